"""Functions that arrange and select numbers give what NumPy gives, in every way to run them."""

import cases
import numpy as np
import pytest
from cases import Case

import lanewise.compat.tf as tf

V = np.array([3.0, 1.0, 2.0, 5.0], np.float32)
M = np.arange(12, dtype=np.float64).reshape(3, 4) - 5
T = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
I = np.array([2, 0, 1], np.int32)  # noqa: E741
B = np.array([True, False, True, False])


def int32(function):
    return lambda *arrays: np.asarray(function(*arrays), np.int32)


CASES = [
    Case("shape", tf.shape, (T,), lambda x: np.array([2, 3, 4], np.int32)),
    Case("size", tf.size, (T,), lambda x: np.int32(24)),
    Case("rank", tf.rank, (T,), lambda x: np.int32(3)),
    Case("shape_by_item", lambda x: tf.shape(x)[1] * 2, (T,), lambda x: np.int32(6)),
    Case("reshape", lambda x: tf.reshape(x, [4, -1]), (T,), lambda x: x.reshape(4, -1)),
    Case("reshape_number", lambda x: tf.reshape(x, [1, 1]), (V[0],), lambda x: x.reshape(1, 1)),
    Case(
        "reshape_by_shape",
        lambda x: tf.reshape(x, tf.concat([tf.shape(x)[:1], [-1]], 0)),
        (T,),
        lambda x: x.reshape(2, -1),
    ),
    Case("ensure_shape", lambda x: tf.ensure_shape(x, [None, 4]), (M,), lambda x: x),
    Case("transpose", tf.transpose, (T,), lambda x: x.T),
    Case(
        "transpose_perm",
        lambda x: tf.transpose(x, perm=[0, 2, 1]),
        (T,),
        lambda x: x.transpose(0, 2, 1),
    ),
    Case(
        "transpose_conjugate",
        lambda x: tf.transpose(x, conjugate=True),
        (M * 1j,),
        lambda x: x.T.conj(),
    ),
    Case("expand_dims", lambda x: tf.expand_dims(x, -1), (M,), lambda x: x[..., None]),
    Case("expand_dims_number", lambda x: tf.expand_dims(x, 0), (V[0],), lambda x: x[None]),
    Case("squeeze", tf.squeeze, (M[:, None, :1],), lambda x: x.reshape(3)),
    Case(
        "squeeze_axis",
        lambda x: tf.squeeze(x, [1]),
        (M[:, None, :1],),
        lambda x: x.reshape(3, 1),
    ),
    Case(
        "broadcast_to",
        lambda x: tf.broadcast_to(x, [2, 4]),
        (V,),
        lambda x: np.stack([x, x]),
    ),
    Case(
        "broadcast_dynamic_shape",
        tf.broadcast_dynamic_shape,
        (np.array([2, 1], np.int32), np.array([3], np.int32)),
        lambda x, y: np.array([2, 3], np.int32),
        in_map=False,
    ),
    Case(
        "stack", lambda x, y: tf.stack([x, y], axis=1), (V, V + 1), lambda x, y: np.stack([x, y], 1)
    ),
    Case(
        "stack_numbers",
        lambda x: tf.stack([x, 1.0]),
        (V[0],),
        lambda x: np.array([x, 1], np.float32),
    ),
    Case(
        "parallel_stack",
        lambda x, y: tf.parallel_stack([x, y]),
        (V, V),
        lambda x, y: np.stack([x, y]),
    ),
    Case("unstack", lambda x: tf.unstack(x, axis=1), (M,), lambda x: list(x.T)),
    Case(
        "concat",
        lambda x, y: tf.concat([x, y], -1),
        (M, M),
        lambda x, y: np.concatenate([x, y], -1),
    ),
    Case(
        "concat_list",
        lambda x: tf.concat([x, [1.0]], 0),
        (V,),
        lambda x: np.append(x, np.float32(1)),
    ),
    Case("split", lambda x: tf.split(x, 2, axis=1), (M,), lambda x: np.split(x, 2, 1)),
    Case("split_sizes", lambda x: tf.split(x, [1, -1, 2]), (V,), lambda x: [x[:1], x[1:2], x[2:]]),
    Case("tile", lambda x: tf.tile(x, [2, 1]), (M,), lambda x: np.tile(x, (2, 1))),
    Case("repeat", lambda x: tf.repeat(x, 3), (M,), lambda x: np.repeat(x, 3)),
    Case(
        "repeat_each",
        lambda x: tf.repeat(x, [1, 0, 2], axis=0),
        (M,),
        lambda x: np.repeat(x, [1, 0, 2], 0),
    ),
    Case("pad", lambda x: tf.pad(x, [[1, 0], [0, 2]]), (M,), lambda x: np.pad(x, [(1, 0), (0, 2)])),
    Case(
        "pad_value",
        lambda x: tf.pad(x, [[1, 2]], constant_values=7),
        (V,),
        lambda x: np.pad(x, (1, 2), constant_values=7),
    ),
    Case(
        "pad_reflect",
        lambda x: tf.pad(x, [[1, 2]], "REFLECT"),
        (V,),
        lambda x: np.pad(x, (1, 2), "reflect"),
    ),
    Case(
        "pad_symmetric",
        lambda x: tf.pad(x, [[1, 2]], mode="symmetric"),
        (V,),
        lambda x: np.pad(x, (1, 2), "symmetric"),
    ),
    Case("reverse", lambda x: tf.reverse(x, [1]), (M,), lambda x: x[:, ::-1]),
    Case("roll", lambda x: tf.roll(x, shift=1, axis=0), (V,), lambda x: np.roll(x, 1)),
    Case(
        "roll_axes",
        lambda x: tf.roll(x, [1, -1], [0, 1]),
        (M,),
        lambda x: np.roll(x, (1, -1), (0, 1)),
    ),
    Case("meshgrid", lambda x, y: tf.meshgrid(x, y), (V, I), lambda x, y: list(np.meshgrid(x, y))),
    Case(
        "meshgrid_ij",
        lambda x, y: tf.meshgrid(x, y, indexing="ij"),
        (V, I),
        lambda x, y: list(np.meshgrid(x, y, indexing="ij")),
    ),
    Case(
        "reverse_sequence",
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1, batch_axis=0),
        (M, np.array([1, 3, 4])),
        lambda x, n: np.stack(
            [np.concatenate([r[:k][::-1], r[k:]]) for r, k in zip(x, n, strict=True)]
        ),
    ),
    Case(
        "bitcast", lambda x: tf.bitcast(x, tf.int32), (V,), lambda x: x.view(np.int32), in_map=False
    ),
    Case("identity_n", lambda x, y: tf.identity_n([x, y]), (V, I), lambda x, y: [x, y]),
    Case("newaxis", lambda x: x[:, tf.newaxis], (V,), lambda x: x[:, None]),
    # --- selecting ---
    Case("gather", tf.gather, (M, I), lambda x, i: x[i]),
    Case("gather_number", lambda x: tf.gather(x, 1), (M,), lambda x: x[1]),
    Case("gather_axis", lambda x, i: tf.gather(x, i, axis=1), (M, I), lambda x, i: x[:, i]),
    Case(
        "gather_matrix",
        lambda x, i: tf.gather(x, i, axis=-1),
        (T, np.array([[0, 1], [3, 2]])),
        lambda x, i: x[..., i],
    ),
    Case(
        "gather_batch",
        lambda x, i: tf.gather(x, i, batch_dims=1),
        (T, np.array([[2, 0], [1, 1]])),
        lambda x, i: np.stack([a[b] for a, b in zip(x, i, strict=True)]),
    ),
    Case(
        "gather_batch_axis",
        lambda x, i: tf.gather(x, i, axis=2, batch_dims=1),
        (T, np.array([[2, 0], [1, 1]])),
        lambda x, i: np.stack([a[:, b] for a, b in zip(x, i, strict=True)]),
    ),
    Case(
        "gather_nd",
        tf.gather_nd,
        (T, np.array([[0, 1], [1, 2]])),
        lambda x, i: np.stack([x[0, 1], x[1, 2]]),
    ),
    Case(
        "gather_nd_batch",
        lambda x, i: tf.gather_nd(x, i, batch_dims=1),
        (T, np.array([[1], [2]])),
        lambda x, i: np.stack([x[0, 1], x[1, 2]]),
    ),
    Case("slice", lambda x: tf.slice(x, [1, 0], [2, -1]), (M,), lambda x: x[1:3]),
    Case(
        "strided_slice",
        lambda x: tf.strided_slice(x, [0, 3], [3, 0], [2, -1]),
        (M,),
        lambda x: x[0:3:2, 3:0:-1],
    ),
    Case(
        "strided_slice_masks",
        lambda x: tf.strided_slice(
            x, [1, 9, 2], [0, 9, 0], [1, 1, 1], new_axis_mask=2, shrink_axis_mask=1, end_mask=4
        ),
        (M,),
        lambda x: x[1, None, 2:],
    ),
    Case(
        "tensor_scatter_nd_update",
        tf.tensor_scatter_nd_update,
        (V, np.array([[1], [3]]), np.array([9.0, 8.0], np.float32)),
        lambda x, i, u: np.array([x[0], u[0], x[2], u[1]]),
    ),
    Case(
        "scatter_nd",
        lambda i, u: tf.scatter_nd(i, u, [4]),
        (np.array([[1], [3], [1]]), np.array([9.0, 8.0, 1.0])),
        lambda i, u: np.array([0, u[0] + u[2], 0, u[1]]),
    ),
    Case("where", tf.where, (B, V, V * 2), lambda c, x, y: np.where(c, x, y)),
    Case("where_numbers", lambda c: tf.where(c, 1, 0), (B,), int32(lambda c: c)),
    Case("where_places", tf.where, (B,), lambda c: np.array([[0], [2]]), in_map=False),
    Case("boolean_mask", tf.boolean_mask, (V, B), lambda x, m: x[m], in_map=False),
    Case(
        "boolean_mask_axis",
        lambda x, m: tf.boolean_mask(x, m, axis=1),
        (M, B),
        lambda x, m: x[:, m],
        in_map=False,
    ),
    Case("one_hot", lambda i: tf.one_hot(i, 4), (I,), lambda i: np.eye(4, dtype=np.float32)[i]),
    Case(
        "one_hot_first",
        lambda i: tf.one_hot(i, 4, axis=0, dtype=tf.int32),
        (I,),
        lambda i: np.eye(4, dtype=np.int32)[i].T,
    ),
    Case(
        "one_hot_values",
        lambda i: tf.one_hot(i, 3, on_value=5, off_value=-1),
        (np.array([1, -1, 7]),),
        lambda i: np.array([[-1, 5, -1], [-1, -1, -1], [-1, -1, -1]], np.int32),
    ),
    Case(
        "sequence_mask",
        lambda n: tf.sequence_mask(n, 4),
        (I,),
        lambda n: np.arange(4) < n[:, None],
    ),
    Case(
        "sequence_mask_longest",
        lambda n: tf.sequence_mask(n, dtype=tf.int32),
        (I,),
        int32(lambda n: np.arange(2) < n[:, None]),
        in_map=False,
    ),
    Case("sort", tf.sort, (M,), lambda x: np.sort(x)),
    Case(
        "sort_descending",
        lambda x: tf.sort(x, direction="DESCENDING"),
        (V,),
        lambda x: np.sort(x)[::-1],
    ),
    Case("argsort", tf.argsort, (V,), int32(np.argsort)),
    Case(
        "argsort_descending",
        lambda x: tf.argsort(x, direction="DESCENDING"),
        (np.array([1, 3, 1, 3]),),
        lambda x: np.array([1, 3, 0, 2], np.int32),
    ),
    Case(
        "searchsorted",
        lambda x, v: tf.searchsorted(x, v, side="right"),
        (np.arange(5.0), np.array([0.0, 2.5, 9.0])),
        int32(lambda x, v: np.searchsorted(x, v, "right")),
    ),
    Case(
        "searchsorted_rows",
        tf.searchsorted,
        (np.sort(M), M[:, :2]),
        int32(lambda x, v: np.stack([np.searchsorted(a, b) for a, b in zip(x, v, strict=True)])),
    ),
    Case(
        "unique",
        tf.unique,
        (np.array([4, 1, 4, 2]),),
        lambda x: (np.array([4, 1, 2]), np.array([0, 1, 0, 2], np.int32)),
        in_map=False,
    ),
    Case(
        "unique_with_counts",
        tf.unique_with_counts,
        (np.array([4, 1, 4, 2]),),
        lambda x: (
            np.array([4, 1, 2]),
            np.array([0, 1, 0, 2], np.int32),
            np.array([2, 1, 1], np.int32),
        ),
        in_map=False,
    ),
    Case(
        "dynamic_partition",
        lambda x, i: tf.dynamic_partition(x, i, 2),
        (V, np.array([0, 1, 1, 0])),
        lambda x, i: [x[i == 0], x[i == 1]],
        in_map=False,
    ),
    Case(
        "dynamic_stitch",
        lambda i, j, x, y: tf.dynamic_stitch([i, j], [x, y]),
        (np.array([0, 2]), np.array([1]), M[:2], M[2:]),
        lambda i, j, x, y: np.stack([x[0], y[0], x[1]]),
        in_map=False,
    ),
    Case(
        "unravel_index",
        lambda i: tf.unravel_index(i, [3, 4]),
        (np.array([5, 11]),),
        lambda i: np.array([[1, 2], [1, 3]]),
    ),
    Case(
        "invert_permutation",
        tf.math.invert_permutation,
        (I,),
        lambda i: np.argsort(i).astype(np.int32),
    ),
]
CASES += [
    Case(
        f"tensor_scatter_nd_{name}",
        getattr(tf, f"tensor_scatter_nd_{name}"),
        (V, np.array([[1], [3], [1]]), np.array([9.0, 2.0, 4.0], np.float32)),
        lambda x, i, u, function=function: np.array(
            [x[0], function(function(x[1], u[0]), u[2]), x[2], function(x[3], u[1])]
        ),
    )
    for name, function in {
        "add": np.add,
        "sub": np.subtract,
        "max": np.maximum,
        "min": np.minimum,
    }.items()
]
IN_MAPS = [case for case in CASES if case.in_map]


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_whole_tensors_give_what_numpy_gives(case):
    cases.check_eagerly(case)


@pytest.mark.parametrize("case", IN_MAPS, ids=cases.name_of)
def test_elements_of_a_map_give_what_numpy_gives(case):
    cases.check_in_map(case)


@pytest.mark.parametrize("case", CASES, ids=cases.name_of)
def test_a_graph_gives_what_numpy_gives(case):
    cases.check_in_graph(case)
