# The image of the agent, where there is a container builder: the same files as in the archives of
# `npm run image`. Build it from the root of the repository:
#   docker build -f deploy/docker/agent.Dockerfile -t lockstep/agent .
# The image gets the Node that tools/node-release.ts pins; this one only runs the tool.
FROM node:26-bookworm-slim AS build
# binutils takes the symbols from the Node binary, which makes the image smaller; Node loads libatomic.
RUN apt-get update && apt-get install --yes --no-install-recommends binutils libatomic1
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --ignore-scripts
COPY LICENSE tsconfig.json ./
COPY src src
COPY tools tools
RUN npx tsx tools/image/main.ts --root agent /image

# Nothing but Node, its libraries and one script: no shell and no package manager. It writes nothing,
# so its root file system may be read-only.
FROM scratch
COPY --from=build /image /
ENV PATH=/lockstep/bin
USER 65532:65532
ENTRYPOINT ["/lockstep/bin/lockstep-agent"]
