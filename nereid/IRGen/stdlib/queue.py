"""Queues, in a program of one thread."""


class Empty(Exception):
    pass


class Queue:

    def __init__(self, maxsize=0):
        self.items = []

    def put(self, item, block=True, timeout=None):
        self.items.append(item)

    def put_nowait(self, item):
        self.items.append(item)

    def get(self, block=True, timeout=None):
        if len(self.items) == 0:
            raise Empty("nothing is left")
        return self.items.pop(0)

    def get_nowait(self):
        return self.get()

    def empty(self):
        return len(self.items) == 0

    def qsize(self):
        return len(self.items)


SimpleQueue = Queue
