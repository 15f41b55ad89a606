# The image is the binary and nothing else: no shell, no libraries. It runs as a user without rights and needs no network.
#
#     docker build -t ntconv .
#     docker run --rm -v "$PWD:/data" -u "$(id -u):$(id -g)" ntconv to pprof trace.nettrace
#
# Podman and buildah read this file, too.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# /tmp is for temporary files, such as the copy of a pipe. The empty directories are made here, because scratch has no
# mkdir; COPY would drop the mode of a directory that it names, but not that of its members.
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=auto -o /root-fs/ntconv ./cmd/ntconv && \
	install -d -m 1777 /root-fs/tmp /root-fs/data

FROM scratch
COPY --from=build /root-fs/ /
COPY LICENSE THIRD_PARTY.md /
# 65532 is the usual ID of a user without rights. Outputs belong to it, unless -u names another user.
USER 65532:65532
ENV TMPDIR=/tmp HOME=/tmp
WORKDIR /data
ENTRYPOINT ["/ntconv"]
