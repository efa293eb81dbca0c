/**
 * Makes a fresh checkout ready: the locked npm dependencies (the pinned Node among them) and, with --for-tests, the etcd that the
 * store's tests run against. Installs only what is missing, says what it does, and fails with one sentence.
 * Runs before anything is installed, so it is plain JavaScript for whatever Node (≥ 18) the machine has.
 *
 *     node scripts/setup.mjs [--for-tests] [SCRIPT [ARGUMENTS…]]     then runs SCRIPT with the Node that it has installed
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const forTests = process.argv[2] === "--for-tests";
const [script, ...args] = process.argv.slice(forTests ? 3 : 2);

try {
  installDependencies();
  if (forTests) installEtcd();
} catch (error) {
  console.error(`k8ts: ${error.message}`);
  process.exit(1);
}
if (script !== undefined) runScript();

/** Not left to the shell: it may remember the Node that it found before the pinned one was there. */
function runScript() {
  const pinned = join(root, "node_modules", ".bin", "node");
  const child = spawn(existsSync(pinned) ? pinned : process.execPath, [join(root, script), ...args], {
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

function installDependencies() {
  const stamp = join(root, "node_modules", ".k8ts-setup");
  const wanted = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  step("Installing the locked npm dependencies (once, about half a minute)", () => {
    run("npm", ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"], {
      sentence: "the npm dependencies could not be installed",
    });
    writeFileSync(stamp, wanted);
  });
}

function installEtcd() {
  const target = join(root, ".tools", "etcd");
  if (onPath("etcd") || existsSync(join(target, "usr", "bin", "etcd"))) return;
  if (!onPath("apt-get") || !onPath("dpkg")) {
    console.log(
      "k8ts: there is no etcd here and no Debian package manager to get it from; tests that need it are skipped",
    );
    return;
  }
  step("Fetching etcd-server from Debian's packages into .tools/ (for the store's tests)", () => {
    mkdirSync(join(root, ".tools"), { recursive: true });
    const work = mkdtempSync(join(root, ".tools", "fetch-"));
    try {
      const sentence = "etcd-server could not be fetched from Debian's packages";
      const download = () => spawnSync("apt-get", ["download", "etcd-server"], { cwd: work, encoding: "utf8" });
      if (download().status !== 0) {
        run("apt-get", ["update", "-qq"], { sentence });
        const again = download();
        if (again.status !== 0) throw new Error(`${sentence}: ${reason(again)}`);
      }
      const deb = readdirSync(work).find((name) => name.endsWith(".deb"));
      if (deb === undefined) throw new Error(`${sentence}: apt-get left no package behind`);
      run("dpkg", ["-x", join(work, deb), join(work, "unpacked")], { sentence: "etcd-server could not be unpacked" });
      rmSync(target, { recursive: true, force: true });
      renameSync(join(work, "unpacked"), target);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  });
}

function step(title, work) {
  console.log(`k8ts: ${title} …`);
  const start = Date.now();
  work();
  console.log(`k8ts: done in ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

function run(command, args, { sentence }) {
  const result = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (result.status !== 0) throw new Error(`${sentence}: ${reason(result)}`);
}

/** The line of a failed command that says most: its first error line, else its last words. */
function reason({ error, stderr, status }) {
  if (error) return error.message;
  const lines = (stderr ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.find((line) => /^(npm error (?!code|errno|syscall|path)|E: )/.test(line)) ?? lines.at(-1);
  return telling?.replace(/^(npm error|E:)\s*/, "") ?? `exit code ${status}`;
}

function onPath(command) {
  return (process.env.PATH ?? "").split(delimiter).some((dir) => dir !== "" && existsSync(join(dir, command)));
}
