"""The part of functools that configuration code uses."""


def partial(function, *bound, **named):

    def call(*more, **options):
        return function(*bound, *more, **{**named, **options})

    return call


def reduce(function, iterable, *initial):
    items = list(initial) + list(iterable)
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def cache(function):
    return function


def lru_cache(maxsize=128, typed=False):
    return maxsize if callable(maxsize) else cache


def wraps(wrapped, assigned=None, updated=None):
    return cache
