"""The systems that train a network, by name, with settings that each trains well with on frozen features."""

from collections.abc import Mapping
from typing import Any

from ..data.inputs import VectorInputs
from ..losses.names import LOSSES
from ..losses.pairwise import PairwiseLoss
from ..losses.table import pairwise_loss
from ..objectives.bgdh import BGDH, anchor_graph
from ..objectives.conditional_gan import ConditionalGAN
from ..objectives.dish import DISH
from ..objectives.dmdh import DMDH
from ..objectives.dsdh import DSDH
from ..objectives.dsh_gans import DSHGANs
from ..objectives.mean_teacher import MeanTeacher
from ..objectives.memory import CodeMemory
from ..objectives.objective import Objective
from ..objectives.sntg import SNTG
from ..objectives.ssdh import SSDH
from ..objectives.temp_ens import TempEns
from ..objectives.vat import VAT
from ..settings import Config
from ..training.learning import build_objective
from .deep import DeepMethod
from .system import Problem


def make(name: str, settings: Mapping[str, Any]) -> DeepMethod:
    """A system by name, with ``settings`` in place of its own; its loss is part of its name and stays."""
    return DEEP[name].with_settings(**{key: settings[key] for key in settings if key != "loss"})


def pts3h_objective(problem: Problem, config: Config) -> Objective:
    """PTS3H, its variants and, with omega 0, its base."""
    return build_objective(config, problem.known)


def base_loss(config: Config) -> PairwiseLoss:
    """The pairwise loss of the settings."""
    return pairwise_loss(config.loss, config.bits, divide=config.divide, reading=config.pseudo)


def shared(config: Config) -> dict[str, Any]:
    """What every semi-supervised objective takes."""
    return {"pairwise": base_loss(config), "omega": config.omega, "eta": config.eta}


def similar_share(problem: Problem, config: Config) -> float:
    """rho: the setting, or the share among the known pairs."""
    return problem.known.similar_share if config.similar_share is None else config.similar_share


def memory_of(problem: Problem, config: Config) -> CodeMemory:
    """An empty memory for the codes of the labelled items."""
    return CodeMemory(problem.known.labelled, config.bits, config.steps or 1000)


def mean_teacher(problem: Problem, config: Config) -> Objective:
    """Mean Teacher in the place of R_u."""
    return MeanTeacher(**shared(config))


def temp_ens(problem: Problem, config: Config) -> Objective:
    """Temporal ensembling in the place of R_u."""
    return TempEns(**shared(config), count=int(problem.members.max()) + 1, bits=config.bits)


def vat(problem: Problem, config: Config) -> Objective:
    """Virtual adversarial training in the place of R_u."""
    return VAT(**shared(config))


def sntg(problem: Problem, config: Config) -> Objective:
    """SNTG in the place of R_u; gamma weighs its graph."""
    return SNTG(**shared(config), smooth=config.gamma or 0.0, similar_share=similar_share(problem, config))


def dsdh(problem: Problem, config: Config) -> Objective:
    """DSDH; eta weighs the distance of outputs and codes."""
    labels = problem.labels("dsdh")
    return DSDH(pairwise_loss("dpsh", config.bits), labels, memory_of(problem, config), eta=config.eta or 0.0)


def dmdh(problem: Problem, config: Config) -> Objective:
    """DMDH; eta weighs the distance of outputs and codes."""
    return DMDH(pairwise_loss("dpsh", config.bits), tie=config.eta or 0.0)


def dish(problem: Problem, config: Config) -> Objective:
    """DISH."""
    return DISH(problem.known, memory_of(problem, config), problem.inputs, seed=config.seed)


def ssdh(problem: Problem, config: Config) -> Objective:
    """SSDH; omega weighs its graphs."""
    return SSDH(problem.labels("ssdh"), config.bits, omega=config.omega or 0.0, eta=config.eta or 0.0)


def bgdh(problem: Problem, config: Config) -> Objective:
    """BGDH; omega weighs its graph."""
    anchors, count = anchor_graph(problem.inputs, problem.members, seed=config.seed)
    return BGDH(**shared(config), bits=config.bits, anchors=anchors, count=count)


def dsh_gans(problem: Problem, config: Config) -> Objective:
    """DSH-GANs; omega weighs the made items."""
    labels = problem.labels("dsh-gans")
    assert isinstance(problem.inputs, VectorInputs)
    classes = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1
    gan = ConditionalGAN(problem.inputs.center, problem.inputs.spread, classes, several=labels.ndim == 2)
    return DSHGANs(labels, config.bits, gan, omega=config.omega or 0.0, eta=config.eta or 0.0)


BASES = {loss: DeepMethod(loss, pts3h_objective, {"loss": loss, "omega": 0.0}) for loss in LOSSES}
PTS3H = {
    loss: DeepMethod(f"pts3h-{loss}", pts3h_objective, {"loss": loss}, uses_unlabelled=True)
    for loss in LOSSES
}
# a histogram over the three alike that 32 labelled items leave an anchor says little
BASES["mihash"] = BASES["mihash"].with_settings(labelled_per_batch=128)
PTS3H["mihash"] = PTS3H["mihash"].with_settings(labelled_per_batch=96)

DEEP: dict[str, DeepMethod] = {
    method.name: method
    for method in (
        *PTS3H.values(),
        PTS3H["dsh"].called("pts3h-p", gamma=0.0),
        PTS3H["dsh"].called("pts3h-q", consistency=False),
        PTS3H["dsh"].called("pts3h-s", network="student"),
        DeepMethod("mean-teacher", mean_teacher, uses_unlabelled=True),
        DeepMethod("temp-ens", temp_ens, uses_unlabelled=True),
        DeepMethod("vat", vat, {"omega": 0.1}, uses_unlabelled=True),
        DeepMethod("sntg", sntg, uses_unlabelled=True),
        DeepMethod("ssdh", ssdh, {"omega": 0.1}, needs_labels=True, uses_unlabelled=True),
        DeepMethod("bgdh", bgdh, {"loss": "dpsh"}, uses_unlabelled=True),
        DeepMethod("dsh-gans", dsh_gans, needs_labels=True, uses_unlabelled=True),
        *BASES.values(),
        DeepMethod("dsdh", dsdh, {"loss": "dpsh", "omega": 0.0, "eta": 1.0}, needs_labels=True),
        DeepMethod("dmdh", dmdh, {"loss": "dpsh", "omega": 0.0}),
        DeepMethod("dish", dish, {"omega": 0.0}),
    )
}
