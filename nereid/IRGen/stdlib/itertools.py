"""The part of itertools that configuration code uses, as lists."""


def product(*iterables, repeat=1):
    rows = [()]
    for items in iterables * repeat:
        items = tuple(items)
        rows = [row + (item,) for row in rows for item in items]
    return rows


def chain(*iterables):
    return [item for items in iterables for item in items]


def combinations(iterable, r):
    items = tuple(iterable)
    if r == 0:
        return [()]
    return [(items[i],) + rest for i in range(len(items)) for rest in combinations(items[i + 1:], r - 1)]


def combinations_with_replacement(iterable, r):
    items = tuple(iterable)
    if r == 0:
        return [()]
    return [(items[i],) + rest for i in range(len(items)) for rest in combinations_with_replacement(items[i:], r - 1)]


def permutations(iterable, r=None):
    items = tuple(iterable)
    count = len(items) if r is None else r
    if count == 0:
        return [()]
    return [(items[i],) + rest for i in range(len(items)) for rest in permutations(items[:i] + items[i + 1:], count - 1)]


def repeat(value, times):
    return [value] * times


def starmap(function, iterable):
    return [function(*items) for items in iterable]


def islice(iterable, *bounds):
    items = list(iterable)
    if len(bounds) == 1:
        return items[:bounds[0]]
    return items[bounds[0]:bounds[1]:bounds[2] if len(bounds) > 2 else 1]


def accumulate(iterable):
    sums = []
    for item in iterable:
        sums.append(item if not sums else sums[-1] + item)
    return sums
