"""What programs that were written for NumPy do at its borders is the same with `appyc.numpy` in its place."""

from __future__ import annotations

import ast
import copy
import gc
import hashlib
import io
import multiprocessing
import pickle
import warnings
from typing import Any

import numpy
import pytest

import appyc.numpy as lazy
from tests.lazy.test_every_function import difference

PROGRAMS = (
    "a=np.zeros(3,'O,i4'); a['f0'][1]=2; a['f1'][:]=7; a.tolist()",
    "np.asarray(np.arange(3).astype('>G')) + 1",
    "a=np.zeros(3, [('o','O',(2,)), ('n',[('u','f8'),('v','O')])]); a['o'][1,0]=5; a['n']['v'][2]='q'; a["
    "['n','o']]['n']['u'][:]=2; a.tolist()",
    "a=np.empty(1, object); a.fill([]); a",
    "d={'k': 1}; a=np.array([d, [d]], object); a[0]['k']=2; (d, a[0] is d)",
    "a=np.empty(1, object); a[0]=np.array(3.0); type(a[0]).__name__, a[0].ndim",
    "a=np.array(0, object); a[()]=np.array(3.0); type(a[()]).__name__, a[()].ndim",
    "class A:\n    def __array__(self, dtype=None, copy=None): return np.ones(2)\n"
    "    def __array_wrap__(self, array, context=None, return_scalar=False): return 'wrapped'\nnp.negative(A())",
    "a=np.zeros((), int); a[()]=np.ma.masked; a",
    "x=[1]; a=np.empty(2, object); a[0]=x; x.append(2); a",
    "a=np.array([{'k': 1}, 3], object); b=a.__deepcopy__({}); b[0]['k']=2; a",
    "np.add.reduce([], initial=None)",
    "np.modf(np.array([1.5, 2.5]), np.zeros(2))",
    "np.negative(np.ones(2), out=(...,))",
    "np.add(1, 2, ...)",
    "np.add(np.ones(2), 1, np.zeros(2), np.zeros(2))",
    "np.add.outer(np.ones((1,) * 33), np.ones((1,) * 33))",
    "a=np.arange(3); np.copyto(a.astype('f4'), 3., casting='equiv')",
    "a=np.arange(3, dtype='f4'); np.copyto(a, 3, casting='safe'); a",
    "np.array(np.broadcast_to(np.array(0, 'u1'), 2**62))",
    "np.array(np.array([''] * 2, object), dtype='S').dtype",
    "a=np.array(['a'], 'T'); np.array(a, copy=False, dtype=np.dtypes.StringDType())",
    "a=np.zeros(2, 'i4,f4').view(np.dtype((np.record, 'i4,f4'))); a.dtype.type",
    "a=np.arange(6)[:]; a.resize((2, 3)); a",
    "np.copy(np.ma.array([1, 2], mask=[0, 1]), subok=True).mask",
    "np.ma.minimum.reduce(np.ma.array([3, 2], mask=[0, 1]))",
    "np.ndarray.argsort(np.array([3, 1, 2]))",
    "A=np.ones(2); np.bmat('A, A')",
    "[name for name in dir(np) if not hasattr(np, name)]",
    "m=np.ma.array([[1, 2]], mask=[[0, 1]]); (np.reshape(m, 2).mask, np.ravel(m).mask, np.transpose(m).mask)",
    "rng=np.random.default_rng(1); (rng.choice(5), rng.choice(5, size=()), rng.choice([1.0, 2.0]), rng.choice(5, 3))",
    "class A:\n    def __array_ufunc__(self, *more, **named): return 'its own'\na=np.zeros(2); a += A(); a",
    "np.ones(3).__array_wrap__(np.zeros(2))",
    "bytes(memoryview(np.array(['a', 'bc']))), memoryview(np.array([b'ab'])).format",
    "class A:\n    def __array__(self, dtype=None, copy=None): return np.ones(3) * 2\n(np.asarray(A()), n"
    "p.sum(A()), np.ones(3) * A(), np.stack((A(), np.ones(3))))",
    "class A:\n    def __array__(self, dtype=None, copy=None): return np.ones(3) * 2\na=np.zeros(3); a[.."
    ".]=A(); a[np.array([True,False,True])]=[1,2]; a += A(); a",
    "class A:\n    def __array_function__(self, func, types, args, kwargs): return {np.sum: 7, np.flip: 8"
    "}[func]\nnp.sum(A()), np.flip(A())",
    "class A:\n    def __array_ufunc__(self, ufunc, *more, **named): return {np.add: 7}[ufunc]\nnp.add(A("
    "), 1), np.ones(2) + A()",
    "class A:\n    def __array_ufunc__(self, *more, **named): return NotImplemented\nnp.ones(2).__array_u"
    "func__(np.add, '__call__', np.ones(2), A())",
    "np.array([10**43], object).astype(np.dtypes.BytesDType)",
    "np.array([10**43], object).astype('S')",
    "np.array(['a']).conjugate()",
    "np.ones(3, complex).conjugate(np.zeros(3, complex))",
    "class A(np.ndarray): pass\nb = np.arange(3.0).view(A).view(np.ndarray); (b, b + 1)",
    "a=np.arange(6)+1.0; y=a*2; a.shape=2,3; (a, y, a+1)",
    "a=np.arange(6)+1.0; y=a*2; a.shape=4; a",
    "a=np.arange(6).reshape(2,3).T+0; a.shape=6; a",
    "a=np.arange(4)+0.0; b=a[1:]; a.dtype=np.int64; a[1]=5; (a, b, a+1)",
    "a=np.arange(8)+0; a.strides=(8,); a.sum()",
    "a=np.arange(6)+0.0; b=a[2:]; a.flags.writeable=False; b[0]=7; (a+1, a.sum(), a[1:3]*2, a.flags.writeable)",
    "a=np.arange(6)+0.0; a.flags.writeable=False; a.setflags(write=True); a[0]=5; a",
    "a=np.arange(6)+0.0; a.flags.owndatum=False; a",
    *(
        f"a=np.arange(6)+0.0; a.setflags(write=False); {store}"
        for store in (
            "a[0]=1; a",
            "a[1:]=1; a",
            "a[1:][0]=3; a",
            "a[[1,2]]=3; a",
            "a[a>2]=3; a",
            "a+=1; a",
            "a.fill(1)",
            "a.sort()",
            "a.put(0,1)",
            "np.add(a,1,out=a)",
            "np.copyto(a,3)",
            "a.reshape(2,3)[0]=1; a",
        )
    ),
    "a=np.arange(100000)+0.0; a.setflags(write=False); (a*2).sum() + a[::2].sum()",
    "a=np.arange(4)+0; a.resize(2,3,refcheck=False); a",
    "a=np.arange(4)+0; a.resize((2,),refcheck=False); a",
    "a=np.arange(4)+0; b=a[1:]; a.resize(5)",
    "a=np.arange(4)+0; b=a[1:]; b.resize(5)",
    "a=np.arange(6.0).reshape(2,3); y=a+1\nfor x in np.nditer(a,op_flags=['readwrite']): x[...]=2*x\n(a, y)",
    "a=np.arange(3)+0.0; b=np.zeros(3)\n"
    "for x,y in np.nditer([a,b],op_flags=[['readonly'],['writeonly']]): y[...]=2*x\nb",
    "a=np.arange(3)+0.0\nwith np.nditer(a,['buffered'],['readwrite'],op_dtypes=['f4'],casting='unsafe') as i:\n"
    " for x in i: x[...]=x*2\na",
    "a=np.zeros(3,'f8,i4'); a['f0'][1]=2; b=a['f1']; b[:]=7; (a, b+1, a[1:]['f0'])",
    "np.zeros(3,'f8,i4')['g']",
    "a = np.zeros(3, np.uint8); a[...] = np.array([-2, 3])[0]; a",
    "a = np.zeros(3, np.uint8); a[1:] = np.array([-2, 3]).min(); a",
    "a = np.zeros(1, np.uint8); a[1:] = np.array([-2, 3]).min(); a",
    "np.ones(3).sum().copy(); np.array(5.0).copy()",
    "a=np.zeros(3,int); a[0]=float('nan'); a[:9]",
    "a=np.zeros(3,int); a[:]=float('nan'); a[:9]",
    "a=np.zeros(100000,int); a[:]=float('nan'); a[:9]",
    "a=np.zeros(100000,int); a[5]=float('inf'); a[:9]",
    "a=np.zeros(100000,int); a[5:]=1.5; a[5:]=float('inf'); a[:9]",
    "a=np.zeros(100000,int); a.fill(float('inf')); a[:9]",
    "a=np.full(100000,float('nan'),int); a[:9]",
    "a=np.full_like(np.zeros(100000,int),float('nan')); a[:9]",
    "a=np.zeros(100000,int); a[a==0]=float('nan'); a[:9]",
    "a=np.zeros(100000,int); a[[1,2]]=float('nan'); a[:9]",
    "a=np.zeros(100000,np.int32); a[[1,2]]=float('nan'); a[:9]",
    "a=np.zeros(100000,np.uint8); a[[1,2]]=300.0; a[:9]",
    "a=np.zeros(100000,np.uint8); a[:]=300.0; a[:9]",
    "a=np.zeros(100000,np.uint8); a[:]=-1; a[:9]",
    "a=np.zeros(100000,int); np.copyto(a,float('nan'),casting='unsafe'); a[:9]",
    "a=np.zeros(100000,int); np.putmask(a,a==0,float('nan')); a[:9]",
    "a=np.zeros(100000,int); a[:]=np.float64('nan'); a[:9]",
    "a=np.zeros(100000,int); a[:]=1+2j; a[:9]",
    "a=np.zeros(100000,float); a[:]=1+2j; a[:9]",
    "a=np.zeros(100000,bool); a[:]=float('nan'); a[:9]",
    "a=np.zeros(100000,np.float32); a[:]=1e300; a[:9]",
    "a=np.zeros(100000,int); a[:]=2**70; a[:9]",
    "a=np.zeros(100000,int); a.put([1],float('nan')); a[:9]",
    "a=np.zeros(100000,int); a.flat=float('nan'); a[:9]",
    "a=np.zeros(100000,int); a[2:4]=[float('nan'),1]; a[:9]",
    "a=np.zeros((300,400),int); a[:2,:2]=((1,float('nan')),(1,2)); a[:2,:2]",
    "a=np.zeros(100000,np.uint8); a[2:4]=[1,300]; a[:9]",
    "a=np.zeros(100000,np.uint8); a[2:4]=(-1,1); a[:9]",
    "a=np.zeros(100000,np.int32); a[np.array([0,1])]=[2**40,1]; a[:9]",
    "a=np.zeros(100000); a[2:4]=[1j,2]; a[:9]",
    "a=np.zeros(100000,int); a[2:4]=[1.7,np.arange(9.)[5]*1.5]; a[:9]",
    "a=np.zeros(100000,int); a[2:4]=['3','4']; a[:9]",
    "a=np.arange(60000.).reshape(3,20000); a[0:2]=[a[1],a[0]]; a[:,:2]",
    "a=np.arange(60000.).reshape(3,20000); a[0:2]=a[1]+0,a[0]+0; a[:,:2]",
    "a=np.arange(60000.).reshape(3,20000); a[[0,1]]=[a[1],a[0]]; a[:,:2]",
    "np.zeros(3).astype(np.dtypes.Float32DType)",
    "np.zeros(3,np.dtypes.Float32DType)",
    "np.array([1,2],np.dtypes.Float32DType)",
    "np.array(np.ones(2),np.dtypes.Float32DType)",
    "np.ones(3).view(np.dtypes.Int64DType)",
    "np.full(3,2,np.dtypes.Float32DType)",
    "np.ones(3).sum(dtype=np.dtypes.Float32DType)",
    "np.ones(3).mean(dtype=np.dtypes.Float32DType)",
    "np.ones(3).cumsum(dtype=np.dtypes.Float32DType)",
    "np.zeros_like(np.ones(3),dtype=np.dtypes.Int8DType)",
    "np.asarray(np.ones(3),dtype=np.dtypes.Int8DType)",
    "np.astype(np.ones(3),np.dtypes.Int8DType)",
    "a=np.arange(9.); a[0]=a[5:6]; a[:9]",
    "a=np.arange(9.); a[0]=np.ones((1,1)); a[:9]",
    "a=np.arange(9.); a[0]=[3]; a[:9]",
    "a=np.arange(9.); a[0,...]=a[5:6]; a[:9]",
    "a=np.arange(9.); a[-1]=numpy.ones(1); a[:9]",
    "a=np.arange(9.); a[0]=np.array(5.); a[:9]",
    "a=np.arange(9.).reshape(3,3); a[0,0]=a[0,:1]; a[:9]",
    "(np.ones((3,4))>0).max(axis=0,initial=0)",
    "(np.ones((3,4))>0).min(axis=0,initial=5)",
    "(np.ones((3,4))>0).max(initial=0)",
    "np.ones((3,4),int).max(axis=0,initial=3.7)",
    "np.ones((3,4),int).sum(axis=0,initial=3.7)",
    "np.ones((3,4),np.int8).sum(axis=0,initial=3)",
    "np.ones((3,4),np.int8).max(axis=0,initial=300)",
    "np.ones((3,4),np.float32).sum(axis=0,initial=3)",
    "np.ones((3,4),np.float32).max(axis=0,initial=np.float64(3))",
    "np.ones((3,4),np.float32).sum(axis=0,initial=np.array(3.))",
    "np.ones((3,4)).sum(axis=0,initial=None)",
    "np.ones((3,4)).max(axis=0,initial=None)",
    "np.ones((3,4)).max(axis=0,initial=1j)",
    "np.bincount((np.ones(4)+1j).imag.astype(int))",
    "np.bincount(np.ones(4,int).imag)",
    "np.bincount((np.ones(4)+1j).imag)",
    "np.bincount(np.array([1,2]),weights=(np.ones(2)+1j).imag)",
    "np.bincount(np.arange(4)[::2])",
    "np.ones((3,4)).sum(axis=np.int64(1))",
    "np.ones((3,4)).sum(axis=np.array(1))",
    "np.ones((3,4)).sum(np.array(1))",
    "np.ones((3,4)).sum((np.int64(0),np.array(1)))",
    "np.ones((3,4)).mean(axis=numpy.array(1))",
    "np.ones((3,4)).argmax(axis=np.array(1))",
    "np.ones((3,4)).cumsum(axis=np.array(1))",
    "np.ones((3,4)).sum(axis=1.0)",
    "np.ones((3,4)).sum(axis=[0,1])",
    "np.concatenate([np.ones((2,2))]*2,axis=np.array(1))",
    "np.stack([np.ones((2,2))]*2,axis=np.int64(1))",
    "np.roll(np.arange(9).reshape(3,3),np.int64(1),axis=np.array(1))",
    "np.repeat(np.ones((2,2)),np.int64(2),axis=np.array(1))",
    "np.diff(np.ones((2,2)),axis=np.array(1))",
    "np.diff(np.ones((2,2)),np.int64(1))",
    "np.flip(np.arange(4).reshape(2,2),np.array(1))",
    "np.expand_dims(np.ones(3),np.array(1))",
    "np.squeeze(np.ones((1,3)),np.array(0))",
    "np.ones((1,3)).squeeze(np.int64(0))",
    "np.ones((2,3,4)).transpose(np.array([1,0,2]))",
    "np.ones((2,3,4)).transpose(numpy.array([1,0,2]))",
    "np.transpose(np.ones((2,3)),np.array([1,0]))",
    "np.transpose(np.ones((2,3)),numpy.array([1,0]))",
    "np.ones((2,3)).transpose(np.int64(1),np.array(0))",
    "np.ones((2,3)).transpose(range(2))",
    "np.ones((2,3)).swapaxes(np.array(0),np.int64(1))",
    "np.moveaxis(np.ones((2,3)),np.array(0),np.int64(1))",
    "np.ones((2,3)).reshape(np.array([3,2]))",
    "np.ones((2,3)).reshape(np.array(3),np.int64(2))",
    "np.zeros(np.array([2,3]))",
    "np.zeros((np.int64(2),np.array(3)))",
    "np.zeros(np.array(3))",
    "c=np.zeros((2,2)); np.matmul(np.ones((2,2)),np.ones((2,2)),c)",
    "c=np.zeros((2,2)); np.matmul(np.ones((2,2)),np.ones((2,2)),c); c",
    "c=np.zeros((2,2)); np.matmul(np.ones((2,2)),np.ones((2,2)),out=c); c",
    "c=np.zeros((2,2)); np.add(np.ones((2,2)),np.ones((2,2)),c); c",
    "c=np.zeros((2,2)); np.sqrt(np.ones((2,2)),c); c",
    "c=np.zeros((2,2)); np.dot(np.ones((2,2)),np.ones((2,2)),c); c",
    "c=np.zeros((2,2)); d=np.zeros((2,2)); np.divmod(np.ones((2,2)),2,c,d); d",
    "np.arange(6.)[np.asfortranarray([[0,1],[2,3]])]",
    "np.arange(12.).reshape(6,2)[np.asfortranarray([[0,1],[2,3]])]",
    "np.arange(12.).reshape(2,6)[:,np.asfortranarray([[0,1],[2,3]])]",
    "np.arange(12.).reshape(6,2)[np.asfortranarray([[0,1],[2,3]]),np.array([[0,1],[1,0]])]",
    "np.arange(12.).reshape(6,2)[np.asfortranarray([[0,1],[2,3]]),np.array([0,1])]",
    "np.take(np.arange(6.),np.asfortranarray([[0,1],[2,3]]))",
    "np.arange(6.).take(np.asfortranarray([[0,1],[2,3]]))",
    "np.arange(6.)[np.asfortranarray(numpy.arange(24).reshape(2,3,4)%6)]",
    "np.arange(6.)[np.arange(24).reshape(2,3,4).transpose(1,2,0)%6]",
    "a=np.arange(6.); a[np.asfortranarray([[0,1],[2,3]])]=np.array([[1,2],[3,4]]); a[:9]",
    "s=np.zeros(3,[('x',int),('y',float)]); q=s[0]; q['x']=5; s['x']",
    "s=np.zeros((2,3),[('x',int),('y',float)]); q=s[0,1]; q['x']=5; s['x']",
    "s=np.zeros((2,3),[('x',int),('y',float)]); q=s[0][1]; q[0]=5; s['x']",
    "s=np.zeros(3,[('x',int),('y',float)]); [q.__setitem__('x',7) for q in s]; s['x']",
    "s=np.zeros(3,[('x',int),('y',float)]); y=s['x']*2; q=s[0]; q['x']=5; y",
    "s=np.zeros(3,[('x',int),('y',float)]); q=s[-1]; s['x']=4; q['x']",
    "s=np.zeros((),[('x',int),('y',float)]); s['x']=4; q=s[()]; q['x']=2; s['x']",
    "s=np.zeros(3,[('x',int),('y',float)]); q=s.flat[1]; q['x']=2; s['x']",
    "z=np.array(5.0); z.copy(); z.copy()",
    "z=np.array(5.0); z.copy(); z.copy()[...]=4; type(z.copy()) is np.ndarray",
    "z=np.array(5.0); z.astype(int); z.astype(int)",
    "z=np.array(5.0); np.array(z); np.array(z)",
    "z=np.array(5.0); np.copy(z); np.copy(z)",
    "z=np.array(5.0); np.zeros_like(z); np.zeros_like(z)",
    "z=np.array(5.0); z+1; z+1",
    "z=np.array(5.0); z.reshape(1).reshape(()).copy()",
)
"""Statements, of which the last is an expression."""


def outcome(text: str, namespace: Any) -> Any:
    *statements, last = ast.parse(text).body
    assert isinstance(last, ast.Expr)
    scope = {"np": namespace, "numpy": numpy}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(ast.Module(list(statements), []), "<program>", "exec"), scope)
            return eval(compile(ast.Expression(last.value), "<program>", "eval"), scope)
        except Exception as error:  # noqa: BLE001  (which one is what is compared)
            return error


@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_do_what_they_do_in_numpy(text: str) -> None:
    wanted = outcome(text, numpy)
    for _ in range(2):  # the second time, it has been recorded before
        assert not difference(wanted, outcome(text, lazy))


@pytest.mark.at_once
@pytest.mark.parametrize("text", PROGRAMS)
def test_programs_do_what_they_do_in_numpy_at_once(text: str) -> None:
    assert not difference(outcome(text, numpy), outcome(text, lazy))


@pytest.mark.parametrize("size", [3, 100_000])
@pytest.mark.parametrize("how", ["raise", "call", "print", "log"])
def test_what_floating_point_errors_do_is_obeyed(
    size: int, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    class Handler:
        def __call__(self, kind: str, flag: int) -> None:
            seen.append(kind)

        def write(self, message: str) -> None:
            seen.append(message)

    def ran(operation: Any) -> Any:
        seen.clear()
        try:
            operation()
        except FloatingPointError as error:
            seen.append(str(error))
        return [*seen, "encountered" in "".join(capfd.readouterr())]

    one, many = lazy.ones(size) * 1e300, lazy.zeros(size) + 0
    before = many * 2  # recorded where nothing is raised, and run where it would be
    operations = (
        lambda: one / many,
        lambda: lazy.ones(size).__itruediv__(many),
        lambda: lazy.log(many),
        lambda: one * 1e300,
        lambda: lazy.sum(one * one),
        lambda: lazy.divide(one, many, out=lazy.zeros(size)),
    )
    with numpy.errstate(all=how, call=Handler()):
        for operation in operations:
            first, *_ = ran(operation)
            assert first
            assert len({str(ran(operation)) for _ in range(3)}) == 1
        assert float(before[0]) == 0
    old = lazy.seterr(all=how)
    try:
        if how == "raise":
            with pytest.raises(FloatingPointError):
                lazy.zeros(size) / lazy.zeros(size)
    finally:
        lazy.seterr(**old)
    assert numpy.isnan(lazy.zeros(size) / lazy.zeros(size)).all()


def test_an_array_of_memory_that_others_change_is_numpys() -> None:
    memory = bytearray(24)
    for shared in (
        lazy.frombuffer(memory, dtype=lazy.int64),
        lazy.ndarray((3,), dtype=lazy.int64, buffer=memory),
    ):
        shared[1] = 5
        assert memory[8] == 5
        memory[8] = 6
        assert (shared * lazy.array([1, 1, 1])).tolist() == [0, 6, 0]
    assert type(lazy.frombuffer(bytes(memory))) is lazy.ndarray
    base = lazy.arange(6.0)
    lazy.frombuffer(base)[2] = 9
    assert base[2] == 9
    assert type(lazy.ndarray((2, 3))) is lazy.ndarray


def test_classes() -> None:
    array = lazy.ones(3) + 1
    assert isinstance(array, numpy.ndarray)
    assert isinstance(array, lazy.ndarray)
    assert isinstance(numpy.ones(3), lazy.ndarray)
    assert not isinstance(3.0, lazy.ndarray)
    assert not isinstance(array, numpy.ma.MaskedArray)

    class Tagged(lazy.ndarray):
        pass

    assert issubclass(Tagged, numpy.ndarray)
    assert issubclass(Tagged, lazy.ndarray)
    assert type(array.view(Tagged)) is Tagged
    assert type(Tagged((2,))) is Tagged


def names() -> list[tuple[Any, Any, str]]:
    spaces = [(numpy, lazy)] + [(getattr(numpy, n), getattr(lazy, n)) for n in ("linalg", "fft", "random")]
    return [(a, b, n) for a, b in spaces for n in dir(a) if not n.startswith("_") and callable(getattr(a, n))]


def test_functions_are_pickled_and_copied_by_name() -> None:
    gone = []
    for theirs, ours, name in names():
        try:
            pickle.dumps(getattr(theirs, name))
        except (pickle.PicklingError, TypeError, AttributeError):
            continue
        function = getattr(ours, name)
        if pickle.loads(pickle.dumps(function)) is not function or copy.deepcopy(function) is not function:
            gone.append(name)
    assert gone == []


def test_functions_go_to_other_processes() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(lazy.sqrt, [4.0, 9.0]) == [2, 3]


def test_buffers_and_interfaces() -> None:
    values = numpy.arange(6.0).reshape(2, 3)
    array = lazy.array(values) + 0
    assert memoryview(array).shape == (2, 3)
    assert memoryview(array).readonly
    assert hashlib.md5(array).digest() == hashlib.md5(values).digest()
    assert bytes(array) == values.tobytes()
    assert io.BytesIO(array).getbuffer() == values.tobytes()
    for interface in (array.__array_interface__, (array + 1).__array_interface__):
        assert interface["typestr"] == "<f8"
        assert interface["data"][1]
    view = numpy.asarray(array)
    array[0, 0] = 7
    gc.collect()
    assert view[0, 0] == 7
    assert not view.flags.writeable
    for dtype in ("O", "M8[s]", "S3", "U2", [("x", int)], "?", "e", "g", "V4", "F"):
        assert numpy.asarray(lazy.zeros(2, dtype=dtype)).dtype == numpy.dtype(dtype)


def test_dlpack_shares_memory() -> None:
    theirs = numpy.arange(4.0)
    found = lazy.from_dlpack(theirs)
    theirs[0] = 9
    assert found.tolist() == [9, 1, 2, 3]
    ours = lazy.arange(4.0) + 0
    again = lazy.from_dlpack(ours)
    ours[0] = 9
    assert again.tolist() == [9, 1, 2, 3]
