"""The report on a certification: findings in, documents out; nothing of the clock, the network or a file.

One document of sections, paragraphs, tables and plots is built from the findings (`build`), and printed three ways:
canonical JSON, which is signed and is the authority; HTML; and PDF by typst. Each is a function of its input alone.
"""
