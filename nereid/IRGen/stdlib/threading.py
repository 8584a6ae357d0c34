"""Threads that run where they are started, and locks that no other thread holds."""


class Thread:

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, daemon=None):
        self.target = target
        self.args = args
        self.kwargs = kwargs or {}
        self.name = name
        self.daemon = daemon

    def run(self):
        if self.target is not None:
            self.target(*self.args, **self.kwargs)

    def start(self):
        self.run()

    def join(self, timeout=None):
        return None

    def is_alive(self):
        return False


class Lock:

    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self):
        return None

    def __enter__(self):
        return True

    def __exit__(self, kind, value, trace):
        return None


RLock = Lock
