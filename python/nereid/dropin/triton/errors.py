"""The root of what this package raises of its own."""


class TritonError(Exception):
    pass
