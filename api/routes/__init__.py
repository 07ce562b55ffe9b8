"""The routes: parse, call a use case, print; a blueprint a resource."""
