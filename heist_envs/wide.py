"""What an observation takes from a state unchanged but for its order, by wide loads and stores.

Writing an observation costs about one store a cycle, and Numba copies a field entry by entry. Each function here writes
a field with one or two stores and has the same meaning in plain Python. Names of fields, which are those of the features
they go to, come as one literal string: Numba knows no literal tuple of strings.
"""

import functools
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from heist_envs.layout import MAX_SEATS, PLACE_OF, SEAT_AT
from heist_envs.rules import Record, State


def clear(seen: Record) -> None:
    """Make every feature zero."""
    for name in seen.dtype.names or ():
        seen[name] = 0


def blank(seen: Record, names: str) -> None:
    """Make some features zero: those that are not written anyway."""
    for name in names.split():
        seen[name] = 0


def copy(state: State, seen: Record, names: str) -> None:
    """Show fields of int8 as they are, and a number of 16 bits as (x % 128, x // 128)."""
    for name in names.split():
        seen[name] = _bytes(state[name])


def turn(state: State, player: int, seen: Record, names: str) -> None:
    """Show fields by seat, the player's own entry first, then clockwise, and zero for an empty seat."""
    n = state.num_players
    for name in names.split():
        seats = _bytes(state[name])
        seen[name][: n - player] = seats[player:n]
        seen[name][n - player : n] = seats[:player]
        seen[name][n:] = 0


def own(state: State, player: int, seen: Record, names: str) -> None:
    """Show the player's own row of fields of int8 by seat."""
    for name in names.split():
        seen[name] = state[name][player]


def place(state: State, player: int, seen: Record, names: str) -> None:
    """Show seats as the player counts them: 1 is its own, 2 the next one clockwise, and 0 is no seat (-1)."""
    for name in names.split():
        seats = state[name]
        seen[name] = np.where(seats < 0, 0, (seats - player) % state.num_players + 1)


def mark(state: State, player: int, seen: Record, names: str) -> None:
    """Mark seats, one-hot by place, the player's own place first; a negative one, no seat, leaves a cleared feature."""
    for name in names.split():
        if state[name] >= 0:
            seen[name][(state[name] - player) % state.num_players] = 1


def count(row: Record) -> int:
    """The sum of a row (`engine.row`): of at most 255 flags of int8, or of non-negative weights of int32."""
    return int(row["values"].sum())


def find(row: Record, k: int) -> int:
    """The first entry of a row with which its running sum exceeds k: of flags, the k-th that is set, counted from 0."""
    return int((row["values"].cumsum() <= k).sum())


def prefetch(record: Record) -> None:
    """Have the processor fetch a record that is needed soon; changes nothing."""


def _bytes(values: Any) -> Any:
    return np.stack((values & 127, values >> 7), -1) if values.dtype == np.int16 else values


_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_INLINE = 128
"""Bytes that a copy of known size takes at most without calling a function."""
_LINE = 64
"""Bytes that come into a cache together."""
_LANES = 16
_LANES_16 = _LANES // 2
_VECTOR = ir.VectorType(_I8, _LANES)
_VECTOR_16 = ir.VectorType(ir.IntType(16), _LANES_16)
_VECTOR_32 = ir.VectorType(_I32, _LANES)


def _word(size: int) -> ir.IntType:
    return ir.IntType(8 * size)


def _size(field: Any) -> int:
    return int(
        field.type.nitems * field.type.size if isinstance(field.type, types.NestedArray) else field.type.bitwidth // 8
    )


def _load(builder: Any, record: Any, offset: int, word: ir.IntType) -> Any:
    return builder.load(cgutils.get_record_member(builder, record, offset, word), align=1)


def _store(builder: Any, value: Any, record: Any, offset: int) -> None:
    builder.store(value, cgutils.get_record_member(builder, record, offset, value.type), align=1)


def _split(builder: Any, value: Any) -> Any:
    """Each 16-bit number x of a vector as the bytes x % 128 and x // 128."""

    def each(number: int) -> Any:
        return ir.Constant(value.type, [number] * value.type.count)

    high = builder.shl(builder.and_(value, each(0x3F80)), each(1))
    return builder.or_(builder.and_(value, each(0x7F)), high)


def _pieces(names: str, *records: Any) -> list[tuple[str, int]]:
    """Fields that lie side by side in all of the records, and are alike: the first one's name, and the bytes of all."""
    found: list[tuple[str, int]] = []
    for name in names.split():
        size = _size(records[0].fields[name])
        if found and all(record.offset(found[-1][0]) + found[-1][1] == record.offset(name) for record in records):
            first, before = found[-1]
            if _is_16_bit(records[0].fields[first]) == _is_16_bit(records[0].fields[name]):
                found[-1] = (first, before + size)
                continue
        found.append((name, size))
    return found


def _is_16_bit(field: Any) -> bool:
    return getattr(field.type, "dtype", field.type) == types.int16


@intrinsic
def _clear(_: Any, seen: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cgutils.memset(builder, args[0], _I64(seen.size), 0)
        return context.get_dummy_value()

    return types.void(seen), write


@intrinsic(prefer_literal=True)
def _blank(_: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for name, size in _pieces(names.literal_value, seen):
            cgutils.memset(builder, cgutils.get_record_member(builder, args[0], seen.offset(name), _I8), _I64(size), 0)
        return context.get_dummy_value()

    return types.void(seen, names), write


@intrinsic(prefer_literal=True)
def _copy(_: Any, state: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for name, size in _pieces(names.literal_value, state, seen):
            field, offset = state.fields[name], seen.offset(name)
            if _is_16_bit(field):
                value = _load(builder, args[0], field.offset, ir.VectorType(ir.IntType(16), size // 2))
                _store(builder, _split(builder, value), args[1], offset)
                continue
            for start in range(0, size, _INLINE):
                source = cgutils.get_record_member(builder, args[0], field.offset + start, _I8)
                target = cgutils.get_record_member(builder, args[1], offset + start, _I8)
                cgutils.raw_memcpy(builder, target, source, _I64(min(_INLINE, size - start)), 1)
        return context.get_dummy_value()

    return types.void(state, seen, names), write


@intrinsic(prefer_literal=True)
def _turn(_: Any, state: Any, player: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        n = builder.zext(_load(builder, args[0], state.offset("num_players"), _I8), _I64)
        names_ = names.literal_value.split()
        for name in names_:
            field = state.fields[name]
            size = _size(field)
            if size > _LANES:
                _turn_rows(builder, args, state.size, field, seen.offset(name), n, _end(seen, names_, name))
                continue
            # Reading on into the next fields is one load; at the end of the record there are none.
            read = _LANES if field.offset + _LANES <= state.size else size
            value = builder.zext(_load(builder, args[0], field.offset, _word(read)), _word(_LANES))
            order = _order(builder, size // field.type.shape[0], n, args[1])
            value = _shuffled(context, builder, builder.bitcast(value, _VECTOR), order)
            if _is_16_bit(field):
                value = _split(builder, builder.bitcast(value, _VECTOR_16))
            value = builder.trunc(builder.bitcast(value, _word(_LANES)), _word(_room(seen, names_, name)))
            _store(builder, value, args[2], seen.offset(name))
        return context.get_dummy_value()

    return types.void(state, types.int64, seen, names), write


def _turn_rows(builder: Any, args: Any, state_size: int, field: Any, offset: int, n: Any, end: int) -> None:
    """Turn a field of int8 with rows too large for one vector: each row is copied to its place.

    A row that fills most of a vector is copied as one, where what it spills into is written afterwards.
    """
    state, player, seen = args[:3]
    places = field.type.shape[0]
    width = _size(field) // places
    rows = cgutils.get_record_member(builder, state, field.offset, _I8)
    seats = builder.bitcast(_row(builder, "seats", SEAT_AT, n, player), _I8.as_pointer())
    for k in range(places):
        seat = builder.zext(builder.load(builder.gep(seats, [_I64(k)], inbounds=True)), _I64)
        source = builder.gep(rows, [builder.mul(seat, _I64(width))], inbounds=True)
        target = cgutils.get_record_member(builder, seen, offset + k * width, _I8)
        spills = width <= _LANES <= end - k * width and field.offset + _size(field) - width + _LANES <= state_size
        cgutils.raw_memcpy(builder, target, source, _I64(_LANES if spills else width), 1)


def _room(seen: Any, names: list[str], name: str) -> int:
    """How many bytes to store for a feature: one store may spill into the next ones if they are written afterwards."""
    size, end = _size(seen.fields[name]), _end(seen, names, name)
    return max(width for width in (size, 8, 16) if size <= width <= end)


def _end(seen: Any, names: list[str], name: str) -> int:
    """How many bytes there are from the start of a feature to the end of those that are written after it."""
    end = _size(seen.fields[name])
    for following in names[names.index(name) + 1 :]:
        if seen.offset(following) == seen.offset(name) + end:
            end += _size(seen.fields[following])
    return end


def _row(builder: Any, name: str, rows: Any, n: Any, player: Any) -> Any:
    """A pointer to `rows[n, player]`, an array of int (MAX_SEATS + 1, MAX_SEATS, up to 16), as a vector."""
    filled = np.pad(rows, ((0, 0), (0, 0), (0, _LANES - rows.shape[2])))
    table = ir.ArrayType(ir.ArrayType(_VECTOR, MAX_SEATS), MAX_SEATS + 1)
    vectors = [[ir.Constant(_VECTOR, [int(x) for x in row]) for row in by_player] for by_player in filled]
    where = cgutils.global_constant(builder, name, ir.Constant(table, vectors))
    return builder.gep(where, [_I64(0), n, player], inbounds=True)


def _order(builder: Any, size: int, n: Any, player: Any) -> Any:
    """For each byte of a turned field with entries of `size` bytes, the byte that comes there."""
    lanes = (SEAT_AT[..., None] * size + np.arange(size)).reshape(*SEAT_AT.shape[:2], -1)
    return builder.load(_row(builder, f"order.{size}", lanes, n, player))


def _shuffled(context: Any, builder: Any, value: Any, order: Any) -> Any:
    """The bytes of a vector in another order: one instruction where the processor has it."""
    _, _, features = context.codegen().magic_tuple()
    if "+ssse3" in features:
        shuffle = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR])
        pshufb = cgutils.get_or_insert_function(builder.module, shuffle, "llvm.x86.ssse3.pshuf.b.128")
        return builder.call(pshufb, [value, order])
    shuffled = ir.Constant(_VECTOR, ir.Undefined)
    for k in range(_LANES):
        byte = builder.extract_element(value, builder.extract_element(order, _I32(k)))
        shuffled = builder.insert_element(shuffled, byte, _I32(k))
    return shuffled


@intrinsic(prefer_literal=True)
def _own(_: Any, state: Any, player: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for name in names.literal_value.split():
            field = state.fields[name]
            width = _size(field) // field.type.shape[0]
            rows = cgutils.get_record_member(builder, args[0], field.offset, _I8)
            source = builder.gep(rows, [builder.mul(args[1], _I64(width))], inbounds=True)
            target = cgutils.get_record_member(builder, args[2], seen.offset(name), _I8)
            cgutils.raw_memcpy(builder, target, source, _I64(width), 1)
        return context.get_dummy_value()

    return types.void(state, types.int64, seen, names), write


@intrinsic(prefer_literal=True)
def _place(_: Any, state: Any, player: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        n = builder.zext(_load(builder, args[0], state.offset("num_players"), _I8), _I64)
        counted = builder.load(_row(builder, "places.from.1", PLACE_OF + 1, n, args[1]))
        no_seat = ir.Constant(_VECTOR, [-1] * _LANES)
        for name, size in _pieces(names.literal_value, state, seen):
            field = state.fields[name]
            for start in range(0, size, _LANES):
                word = _word(min(_LANES, size - start))
                seats = builder.zext(_load(builder, args[0], field.offset + start, word), _word(_LANES))
                seats = builder.bitcast(seats, _VECTOR)
                shown = _shuffled(
                    context, builder, counted, builder.and_(seats, ir.Constant(_VECTOR, [_LANES - 1] * _LANES))
                )
                shown = builder.select(builder.icmp_signed(">", seats, no_seat), shown, _VECTOR(None))
                value = builder.trunc(builder.bitcast(shown, _word(_LANES)), word)
                _store(builder, value, args[2], seen.offset(name) + start)
        return context.get_dummy_value()

    return types.void(state, types.int64, seen, names), write


@intrinsic(prefer_literal=True)
def _mark(_: Any, state: Any, player: Any, seen: Any, names: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _I64(0)
        n = builder.zext(_load(builder, args[0], state.offset("num_players"), _I8), _I64)
        places = builder.bitcast(_row(builder, "places", PLACE_OF, n, args[1]), _I8.as_pointer())
        for name in names.literal_value.split():
            seat = _load(builder, args[0], state.offset(name), _I8)
            lane = builder.zext(builder.and_(seat, _I8(_LANES - 1)), _I64)  # -1 gives the last one, which is 0
            place = builder.zext(builder.load(builder.gep(places, [lane], inbounds=True)), _I64)
            taken = builder.zext(builder.icmp_signed(">=", seat, _I8(0)), _I8)
            feature = cgutils.get_record_member(builder, args[2], seen.offset(name), _I8)
            builder.store(taken, builder.gep(feature, [place], inbounds=True))
        return context.get_dummy_value()

    return types.void(state, types.int64, seen, names), write


def _flags(builder: Any, row: Any, record: Any) -> Any:
    """The flags of a row as a vector, with zero for what fills the row up."""
    flags = row.fields["values"].type.nitems
    vector = _load(builder, record, 0, ir.VectorType(_I8, row.size))
    return builder.and_(vector, ir.Constant(vector.type, [1] * flags + [0] * (row.size - flags)))


def _weights(builder: Any, row: Any, record: Any) -> list[Any]:
    """The weights of a row in blocks of a vector each, with zero for what fills the last one up."""
    weights = row.fields["values"].type.nitems
    blocks = []
    for start in range(0, weights, _LANES):
        block = _load(builder, record, 4 * start, _VECTOR_32)
        used = min(_LANES, weights - start)
        blocks.append(builder.and_(block, ir.Constant(_VECTOR_32, [-1] * used + [0] * (_LANES - used))))
    return blocks


def _sum(builder: Any, block: Any) -> Any:
    reduce = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_I32, [_VECTOR_32]), f"llvm.vector.reduce.add.v{_LANES}i32"
    )
    return builder.call(reduce, [block])


def _count_ones(builder: Any, comparison: str, left: Any, right: Any) -> Any:
    """In how many lanes a comparison of two vectors holds."""
    holds = builder.bitcast(builder.icmp_unsigned(comparison, left, right), ir.IntType(left.type.count))
    ones = builder.ctpop(builder.zext(holds, _word(max(8, left.type.count // 8))))
    return builder.trunc(ones, _I64) if ones.type.width > _I64.width else builder.zext(ones, _I64)


def _count_not_above(builder: Any, vector: Any, k: Any) -> Any:
    """In how many lanes the running sum of a vector is at most k."""
    lanes = vector.type.count
    zeros = vector.type(None)
    for step in (2**power for power in range(lanes.bit_length() - 1)):
        moved = ir.Constant(ir.VectorType(_I32, lanes), [*range(lanes, lanes + step), *range(lanes - step)])
        vector = builder.add(vector, builder.shuffle_vector(vector, zeros, moved))
    one = builder.insert_element(zeros, k, _I32(0))
    everywhere = builder.shuffle_vector(one, zeros, ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes))
    return _count_ones(builder, "<=", vector, everywhere)


@intrinsic
def _count(_: Any, row: Any) -> Any:
    def read(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if row.fields["values"].type.dtype == types.int32:
            return builder.zext(_sum(builder, functools.reduce(builder.add, _weights(builder, row, args[0]))), _I64)
        flags = _flags(builder, row, args[0])
        return _count_ones(builder, "!=", flags, flags.type(None))

    return types.int64(row), read


@intrinsic
def _find(_: Any, row: Any, k: Any) -> Any:
    def read(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if row.fields["values"].type.dtype != types.int32:
            return _count_not_above(builder, _flags(builder, row, args[0]), builder.trunc(args[1], _I8))
        blocks = _weights(builder, row, args[0])
        wanted = builder.trunc(args[1], _I32)
        running = passed = _I32(0)
        skipped = _I64(0)
        for block in blocks[:-1]:  # whole blocks first, so that only one is summed up weight by weight
            running = builder.add(running, _sum(builder, block))
            skips = builder.icmp_unsigned("<=", running, wanted)
            passed = builder.select(skips, running, passed)
            skipped = builder.add(skipped, builder.zext(skips, _I64))
        first = builder.gep(cgutils.get_record_member(builder, args[0], 0, _VECTOR_32), [skipped], inbounds=True)
        block = builder.load(first, align=1)
        inside = _count_not_above(builder, block, builder.sub(wanted, passed))
        return builder.add(builder.mul(skipped, _I64(_LANES)), inside)

    return types.int64(row, types.int64), read


@intrinsic
def _prefetch(_: Any, record: Any) -> Any:
    def ask(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_I8.as_pointer(), _I32, _I32, _I32])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for line in range(0, record.size, _LINE):
            where = cgutils.get_record_member(builder, args[0], line, _I8)
            builder.call(prefetch, [where, _I32(0), _I32(3), _I32(1)])  # to be read, kept in all caches, data
        return context.get_dummy_value()

    return types.void(record), ask


if not numba.config.DISABLE_JIT:
    clear, blank, copy, turn, own, place = _clear, _blank, _copy, _turn, _own, _place
    mark, count, find, prefetch = _mark, _count, _find, _prefetch
