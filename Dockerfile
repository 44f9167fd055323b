# The server and nothing else. It is linked statically, so that it needs no other files.
#
#     docker build --tag tailrace .
#     docker run --rm --publish 6379:6379 tailrace
#     docker run --rm --publish 6379:6379 tailrace --testdouble

FROM rust:1.95-slim-bookworm AS build
WORKDIR /tailrace
COPY . .
# With a target named, the flags are for the program alone and not for the macros that the compiler loads.
RUN target="$(rustc --print host-tuple)" \
    && RUSTFLAGS='-C target-feature=+crt-static' \
        cargo build --locked --release --package tailrace-server --target "$target" \
    && mv "target/$target/release/tailrace" /usr/local/bin/tailrace \
    && strip /usr/local/bin/tailrace

FROM scratch
COPY --from=build /usr/local/bin/tailrace /tailrace
USER 65534:65534
EXPOSE 6379
# Who may connect is up to whoever publishes the port.
ENTRYPOINT ["/tailrace", "--bind", "0.0.0.0", "--protected-mode", "no"]
