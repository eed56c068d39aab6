"""Classes as rows of 0 and 1, and the classifier."""

import numpy as np
import pytest
import torch

from pts3h.objectives.class_targets import Classifier, class_targets
from pts3h.objectives.classifying import Classifying


def test_class_targets():
    assert class_targets(np.array([1, -1, 0])).tolist() == [[0, 1], [0, 0], [1, 0]]
    assert class_targets(np.array([[1, 1], [-1, -1]])).tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("several", [True, False])
def test_a_classifier_learns_and_predicts_rows_of_flags(several):
    torch.manual_seed(0)
    rows, classifier = torch.eye(3), Classifier(3, 3, several=several)
    optimizer = torch.optim.SGD(classifier.parameters(), lr=1.0)
    for _ in range(100):
        optimizer.zero_grad()
        classifier.loss(rows, rows).backward()
        optimizer.step()
    assert torch.equal(classifier.predict(rows), rows)


def logits_of(classifier, rows):
    weight, bias = (one.detach().numpy() for one in (classifier.layer.weight, classifier.layer.bias))
    return rows.numpy() @ weight.T + bias


def test_the_loss_of_one_class_per_item_is_the_mean_cross_entropy():
    torch.manual_seed(0)
    rows, classifier = torch.randn(5, 4), Classifier(4, 3, several=False)
    classes = np.array([0, 2, 1, 1, 0])
    logits = logits_of(classifier, rows)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log(chances[np.arange(5), classes]).mean()
    targets = torch.from_numpy(np.eye(3, dtype=np.float32)[classes])
    assert classifier.loss(rows, targets).item() == pytest.approx(expected, rel=1e-5)
    predicted = classifier.predict(rows)
    assert torch.equal(predicted, torch.from_numpy(np.eye(3, dtype=np.float32)[logits.argmax(axis=1)]))
    assert predicted.dtype == rows.dtype and not predicted.requires_grad


def test_the_loss_of_several_classes_is_the_mean_over_items_and_classes():
    torch.manual_seed(0)
    rows, classifier = torch.randn(5, 4), Classifier(4, 3, several=True)
    flags = np.random.default_rng(0).integers(0, 2, (5, 3)).astype(np.float32)
    logits = logits_of(classifier, rows)
    chance = 1 / (1 + np.exp(-logits))
    expected = -(flags * np.log(chance) + (1 - flags) * np.log(1 - chance)).mean()
    assert classifier.loss(rows, torch.from_numpy(flags)).item() == pytest.approx(expected, rel=1e-5)
    predicted = classifier.predict(rows)
    assert torch.equal(predicted, torch.from_numpy((chance > 0.5).astype(np.float32)))
    assert predicted.dtype == rows.dtype and not predicted.requires_grad


def test_a_class_that_is_as_likely_as_not_is_not_predicted():
    classifier = Classifier(4, 3, several=True)
    for one in classifier.parameters():
        torch.nn.init.zeros_(one)
    assert not classifier.predict(torch.randn(2, 4)).any()


def test_an_objective_with_a_classifier():
    class Plain(Classifying):
        def __call__(self, step):
            raise NotImplementedError

    one = Plain(np.array([1, -1, 2]), 5, omega=0.0, eta=0.2)
    assert not one.needs_unlabelled and not one.needs_teacher and not one.classifier.several
    assert one.targets.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 1]]
    several = Plain(np.array([[1, 0], [-1, -1]]), 5, omega=0.1, eta=0.2)
    assert several.needs_unlabelled and several.classifier.several
    assert (several.classifier.layer.in_features, several.classifier.layer.out_features) == (5, 2)
    assert (one.omega, one.eta) == (0.0, 0.2) and len(one.parameters()) == 2
