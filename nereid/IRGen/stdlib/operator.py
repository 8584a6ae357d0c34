"""Operators as functions, as configuration code passes them."""


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def not_(a):
    return not a


def neg(a):
    return -a


def itemgetter(*keys):

    def get(items):
        return items[keys[0]] if len(keys) == 1 else tuple(items[key] for key in keys)

    return get


def attrgetter(name):

    def get(value):
        return getattr(value, name)

    return get
