"""Open files and paths of the host."""


class TextFile:

    def __init__(self, name, text):
        self.name = name
        self.text = text
        self.closed = False

    def read(self):
        rest = self.text
        self.text = ""
        return rest

    def readlines(self):
        return self.read().splitlines(True)

    def close(self):
        self.closed = True

    def __iter__(self):
        return self.readlines()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()
