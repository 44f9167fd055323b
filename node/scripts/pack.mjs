// Builds and packs the package, and those that carry binaries:
//
//     node scripts/pack.mjs FOLDER [linux-x64-gnu=../target/release/tailrace ...]
//
// What it is built with is looked for in tools/node_modules, or where TAILRACE_NODE_TOOLS says.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = resolve(process.env.TAILRACE_NODE_TOOLS ?? join(root, "tools/node_modules"));
const main = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Writes the package itself. */
function build(folder) {
  for (const name of ["package.json", "tsconfig.json", "README.md", "src"]) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(tools, join(folder, "node_modules"));
  run(process.execPath, [join(tools, "typescript/bin/tsc")], folder);
  rmSync(join(folder, "node_modules"));
}

/** Writes the package that carries the binary for a platform. */
function carry(platform, binary, folder) {
  const name = `@tailrace/${platform}`;
  const known = Object.keys(main.optionalDependencies);
  if (!known.includes(name) || binary === undefined) {
    throw new Error(`a binary is given as PLATFORM=PATH, for one of: ${known.join(" ")}`);
  }
  const [os, cpu, abi] = platform.split("-");
  const libc = { gnu: "glibc", musl: "musl" }[abi];
  const manifest = {
    name,
    version: main.version,
    description: `The binary of Tailrace for ${platform}`,
    license: main.license,
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] }),
    files: ["bin"],
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, "README.md"), `# ${name}\n\n${manifest.description}. The package \`tailrace\` uses it.\n`);
  mkdirSync(join(folder, "bin"));
  copyFileSync(binary, join(folder, "bin/tailrace"));
  chmodSync(join(folder, "bin/tailrace"), 0o755);
}

/** Packs what `write` puts into a folder. */
function pack(out, write) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-pack-"));
  try {
    write(folder);
    for (const license of ["LICENSE-MIT", "LICENSE-APACHE"]) {
      copyFileSync(join(root, "..", license), join(folder, license));
    }
    run("npm", ["pack", "--silent", "--pack-destination", resolve(out)], folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command, words, cwd) {
  execFileSync(command, words, { cwd, stdio: "inherit" });
}

const [out, ...binaries] = process.argv.slice(2);
if (out === undefined) {
  throw new Error("usage: node scripts/pack.mjs FOLDER [PLATFORM=BINARY ...]");
}
mkdirSync(out, { recursive: true });
pack(out, build);
for (const [platform, binary] of binaries.map((word) => word.split("="))) {
  pack(out, (folder) => carry(platform, binary, folder));
}
