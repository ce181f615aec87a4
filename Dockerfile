# The image of every role: `make image`. What it runs on are arguments, so that a registry of your own can serve them:
# Debian 12 or later, or a system derived from it; nothing of it is run but the loader and the C and C++ libraries. The
# loader of another system does not look for libraries where Debian has them, and prlimit, so every reactor, fails there.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot

# Node itself is an npm package: its version is that of package-lock.json, and so the one that is tested.
FROM ${BUILD_IMAGE} AS modules
WORKDIR /tokenkeep
COPY package.json package-lock.json ./
# Optional is the embedded Postgres, which needs a shell: in a container, the database is another one's.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && npm rebuild node
COPY config/image/trim.sh config/image/
RUN sh config/image/trim.sh /tokenkeep /image

FROM ${BUILD_IMAGE} AS build
WORKDIR /tokenkeep
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=optional --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY config/tsconfig.build.json config/
COPY src src
RUN npm run --silent build

FROM ${BASE_IMAGE}
COPY --from=modules /image/ /
COPY LICENSE package.json /app/
COPY crds /app/crds
COPY --from=build /tokenkeep/dist /app/dist
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
WORKDIR /app
ENV NODE_ENV=production PATH=/usr/local/bin:/usr/bin
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/tokenkeep"]
# Last: they change with every build.
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="tokenkeep" \
      org.opencontainers.image.description="A token vault that platform teams run themselves: API, operator and reactors" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="Tokenkeep" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
