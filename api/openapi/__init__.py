"""The interface described: an OpenAPI 3.1 document from the declarations that route, admit and validate."""

from api.openapi.document import make_document

__all__ = ["make_document"]
