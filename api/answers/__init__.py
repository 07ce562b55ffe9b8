"""What the service answers: one closed, frozen model for each JSON answer, from which its documentation is made.

The routes print these answers by hand and quickly; a test compares every answer of the whole test run with its model.
"""

from api.answers.access import KeyMade, KeyPage, KeyShown, Me, SeatMade, SeatShown
from api.answers.audits import AuditPage, AuditShown
from api.answers.bets import Choice, OwnBetPage, PurseShown
from api.answers.bundles import BundleAnswer, VerificationAnswer
from api.answers.counters import PlayerStatistics
from api.answers.log import Consistency, Inclusion, RecordAnswer
from api.answers.meta import OpenApiAnswer, ProblemAnswer, Status, Version
from api.answers.monitors import MonitorPath, MonitorsShown
from api.answers.pace import ChoicesShown, LoopPlayed
from api.answers.regulator import UnusedPage, VoidStatistics
from api.answers.shoes import CoupPage, CoupShown, RecordPage, RoadsAnswer, ShoeState, ShoeSummary
from api.answers.statistics import OutcomeStatistics, PayoutStatistics, RuleStatistics
from api.answers.steps import Contribution, DealtCoupAnswer, Logged, OpenedShoe, PublishedBook, SealedShoe
from api.answers.tables import BookPage, TableAnswer, TablePage, TableShown

__all__ = [
    "AuditPage",
    "AuditShown",
    "BookPage",
    "BundleAnswer",
    "Choice",
    "ChoicesShown",
    "Consistency",
    "Contribution",
    "CoupPage",
    "CoupShown",
    "DealtCoupAnswer",
    "Inclusion",
    "KeyMade",
    "KeyPage",
    "KeyShown",
    "Logged",
    "LoopPlayed",
    "Me",
    "MonitorPath",
    "MonitorsShown",
    "OpenApiAnswer",
    "OpenedShoe",
    "OutcomeStatistics",
    "OwnBetPage",
    "PayoutStatistics",
    "PlayerStatistics",
    "ProblemAnswer",
    "PublishedBook",
    "PurseShown",
    "RecordAnswer",
    "RecordPage",
    "RoadsAnswer",
    "RuleStatistics",
    "SealedShoe",
    "SeatMade",
    "SeatShown",
    "ShoeState",
    "ShoeSummary",
    "Status",
    "TableAnswer",
    "TablePage",
    "TableShown",
    "UnusedPage",
    "VerificationAnswer",
    "Version",
    "VoidStatistics",
]
