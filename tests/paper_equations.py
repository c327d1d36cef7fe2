"""The paper's four structural causal models, person by person, written from its appendix and not from the package.

Every person gets their own exogenous variables U; the equations are then applied as printed, once with X as the
person chooses it and once with X set by intervention. Digits were copied from the LaTeX source by a script.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def _digits(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


X_WEIGHTS = _digits("""
    0.259223510143 -0.658140989167 -0.75025831768 0.162906462426 0.652023463285
    -0.0892939586541 0.421469107769 -0.443129684766 0.802624388789 -0.225740978499
    0.716621631717 0.0650682260309 -0.220690334026 0.156355773665 -0.50693672491
    -0.707060278115 0.418812816935 -0.0822118703986 0.769299853833 -0.511585391002
""")
Y_WEIGHTS = _digits("""
    -0.792867111918 0.759967136147 0.55437722369 0.503970540409 -0.527187144651
    0.378619988091 0.269255196301 0.671597043594 0.396010142274 0.325228576643
    0.657808327574 0.801655023993 0.0907679484097 -0.0713852594543 -0.0691046005285
    -0.222582013343 -0.848408031595 -0.584285069026 -0.324874831799 0.625621583197
""")
U_Z = _digits("""
    0.352913861526 0.460995855543 0.331702473392 0.885505026779 0.017026872706
    0.380772701708 0.028092602705 0.220819399962 0.617742227477 0.981975046713
    0.142042291381 0.833602592350 0.882938907115 0.542143191999 0.085023436884
    0.645357252864 0.863787135134 0.460539711624 0.314014079207 0.685879388218
""")


@dataclass(frozen=True)
class People:
    """What each person would do and how they would fare; all arrays of shape (people,), z of shape (people, 20)."""

    z: np.ndarray
    x: np.ndarray
    y0: np.ndarray
    y1: np.ndarray

    @property
    def y(self) -> np.ndarray:
        return np.where(self.x == 1, self.y1, self.y0)


def _above(score: np.ndarray, threshold: float) -> np.ndarray:
    return (score > threshold).astype(int)


def _banded(score: np.ndarray) -> np.ndarray:
    return (((score > 0) & (score < 1)) | ((score > 1) & (score < 2))).astype(int)


def simulate(scm: str, people: int, seed: int) -> People:
    """That many people of one of the SCMs; ``direct-positive`` is Direct with the sign of C_Y turned."""
    rng = np.random.default_rng(seed)

    def bernoulli(p: float) -> np.ndarray:
        return (rng.random(people) < p).astype(int)

    z = np.stack([bernoulli(p) for p in U_Z], axis=1)
    x_z, y_z = z @ X_WEIGHTS, z @ Y_WEIGHTS
    if scm == "mediator":
        u_x, u_y, u_m = bernoulli(0.698319142733), bernoulli(0.502331024722), bernoulli(0.402331024722)
        c_m, c_y_m, c_y_x = -0.74234511918, 0.24235642321, 0.87953605542

        def f_m(x: int) -> np.ndarray:
            return _above(c_m * x + u_m, 0.5)

        def f_y(x: int) -> np.ndarray:
            return _above(c_y_x * x + c_y_m * f_m(x) + y_z + u_y, 2)

        return People(z, _above(x_z + u_x, 0.5), f_y(0), f_y(1))

    u_x, u_y = bernoulli(0.601680857267), bernoulli(0.497668975278)
    c_y = 0.77953605542 if scm == "direct-positive" else -0.77953605542
    if scm == "confounder":
        return People(z, _above(x_z + u_x, 0.5), _banded(y_z + u_y), _banded(c_y + y_z + u_y))
    if scm == "covariate":
        return People(z, _above(u_x, 0.5), _banded(y_z + u_y), _banded(c_y + y_z + u_y))
    return People(z, _above(u_x, 0.5), _above(u_y, 0.7), _above(c_y + u_y, 0.7))
