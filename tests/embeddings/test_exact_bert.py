"""The network in bfloat16: every row has the same bits whatever is beside it, and nearly the values of float32."""

from collections.abc import Iterator

import pytest
import torch
from transformers import BertConfig, BertModel

from embeddings import precision
from embeddings.exact_bert import ExactBert

pytestmark = pytest.mark.skipif(
    precision._processor().isdisjoint(precision._X86_BFLOAT16), reason="the processor does not multiply in bfloat16"
)


@pytest.fixture(scope="module", params=[(384, 1536, 12), (64, 128, 2)], ids=["of the default size", "small"])
def pair(request: pytest.FixtureRequest) -> tuple[BertModel, ExactBert]:
    """A network with random weights, and the same in bfloat16."""
    hidden, inner, heads = request.param
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=100,
        hidden_size=hidden,
        num_hidden_layers=2,
        num_attention_heads=heads,
        intermediate_size=inner,
    )
    network = BertModel(config).eval()
    with torch.inference_mode():
        return network, ExactBert(network, heads)


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many threads one product may use."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("tokens", [16, 48, 64, 160, 512])
def test_a_row_does_not_depend_on_its_batch(pair: tuple[BertModel, ExactBert], tokens: int) -> None:
    """B7: texts of one padded length, full ones among them, have the same bits alone, in any number and place."""
    _, exact = pair
    ids = torch.randint(0, 100, (16, tokens))
    mask = torch.zeros_like(ids)
    for text in range(16):
        mask[text, : tokens - text % tokens] = 1
    with torch.inference_mode():
        alone = torch.cat([exact(ids[text : text + 1], mask[text : text + 1]) for text in range(16)])
        for count in (2, 3, 7, 11, 16):
            order = torch.randperm(16)[:count]
            assert torch.equal(exact(ids[order], mask[order]), alone[order])


def test_it_computes_what_transformers_computes(pair: tuple[BertModel, ExactBert]) -> None:
    """The state of each token that is read points where that of float32 does."""
    network, exact = pair
    ids = torch.randint(0, 100, (3, 32))
    mask = torch.ones_like(ids)
    mask[1, 20:] = 0
    with torch.inference_mode():
        theirs = network(input_ids=ids, attention_mask=mask).last_hidden_state
        cosines = torch.nn.functional.cosine_similarity(exact(ids, mask), theirs, dim=-1)
    assert cosines[mask.bool()].min() > 0.999
