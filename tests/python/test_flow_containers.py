"""Containers: what is given on arrays is what elements give."""

import dataclasses
from collections import namedtuple

import numpy as np
from flow_cases import COUNTS, FLOATS, Cases

case = Cases()


@case(FLOATS)
def a_list_that_some_elements_change(x):
    a = [0.0] * 3
    if x > 0:
        a[1] = x
    else:
        a[0] = 1
    return a[0] + 10 * a[1] + a[2]


@case(COUNTS)
def a_list_with_an_element_as_index(n):
    table = [3, 1, 4, 1, 5, 9]
    return table[n % 6] * 10 + table[-1 - n % 6]


@case(COUNTS)
def a_list_written_by_element_index(n):
    seen = [0] * 7
    k = n
    for _ in range(9):
        k = (k * 3 + 1) % 7
        seen[k] += 1
    return seen[0] * 1000 + seen[n % 7] * 10 + max(seen)


@case(COUNTS)
def an_array_as_a_sieve(n):
    composite = np.zeros(64, dtype=np.bool_)
    for i in range(2, 8):
        for j in range(i * i, 64, i):
            composite[j] = True
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
    return count


@case(COUNTS)
def a_matrix(n):
    m = np.zeros((2, 3), dtype=np.int64)
    for r in range(2):
        for s in range(3):
            m[r, s] = r * s + n
    m[n % 2, n % 3] = 100
    return m[0, 0] + m[1, 2]


@case(COUNTS)
def appending_in_a_plain_range(n):
    powers = []
    for k in range(12):
        powers.append(n * k)
    return sum(powers) + len(powers)


@case(FLOATS)
def comprehensions(x):
    squares = [v * v for v in (x, 1.0, 2.0)]
    pairs = {k: x + k for k in range(3)}
    return sum(squares) + pairs[2] + sum(i * x for i in range(3))


@case(COUNTS)
def a_dict_that_a_loop_changes(n):
    t = {"n": 0, "s": 1.5}
    while t["n"] < n:
        t["n"] += 1
        t["s"] *= 2
    return t["s"]


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Body:
    position: float
    speed: float


@case(FLOATS)
def named_tuples_in_branches(x):
    p = Point(x, 1.0)
    if x > 0:
        p = Point(p.y, p.x)
    else:
        p = p._replace(y=4.0)
    return p.x * 10 + p.y


@case(FLOATS)
def dataclasses_in_loops(x):
    body = Body(x, 1.0)
    for _ in range(20):
        body = Body(body.position + body.speed, body.speed * 0.5)
        if body.position > 3:
            body = Body(3.0, -body.speed)
    return body.position


@case(FLOATS)
def tuples_carried_by_a_loop(x):
    state = (x, 0)
    while state[0] < 10:
        state = (state[0] * 2 + 8, state[1] + 1)
    return state[0] + state[1]


@case(COUNTS)
def starred_targets(n):
    first, *rest = [n, 2, 3, n + 1]
    if n > 3:
        first, *rest = [1, 2, n, 4]
    return first * 100 + sum(rest)


test_a_function_gives_on_arrays_what_it_gives_for_each_element = case.test()
