/**
 * A user without rights on this machine, in a home of their own: there is no rootless mode, and every command says what
 * it does instead. The checkout belongs to another user.
 */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const NOBODY = 65_534;
const binary = join(import.meta.dirname, "..", "bin", "k8ts");
const execute = promisify(execFile);
const SENTENCE = "Real nodes need root, and k8ts has no rootless mode: use sudo, or simulated nodes.";

function as(home: string, ...command: readonly string[]) {
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: home, K8TS_OUTSIDE: "off" };
  const who = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--bounding-set=-all", "--"];
  return execute("setpriv", [...who, ...command], { env, cwd: home }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout = "", stderr = "" }) => ({ code, said: stdout + stderr }),
  );
}

const readable = async () => (await as("/", "test", "-r", binary)).code === 0;
const canBecome = process.platform === "linux" && process.getuid?.() === 0 && (await readable());

describe.skipIf(!canBecome)("a user without rights", () => {
  const home = mkdtempSync(join(tmpdir(), "k8ts-nobody-"));
  const k8ts = (...args: readonly string[]) => as(home, binary, ...args);

  beforeAll(async () => {
    chmodSync(home, 0o700);
    chownSync(home, NOBODY, NOBODY);
    // Whoever owns the checkout has built it.
    await execute(binary, ["--version"]);
  });
  afterAll(async () => {
    await k8ts("down");
    rmSync(home, { recursive: true, force: true });
  });

  it("is told by doctor what is lacking, and that the rest was not tried", async () => {
    const { code, said } = await k8ts("doctor");
    expect(code).toBe(1);
    expect(said).toContain(`rights: ${SENTENCE}`);
    expect(said).toMatch(/^note +nftables +not tried: only root may$/m);
    expect(said).toContain("Real nodes cannot run here yet: `k8ts up` makes simulated ones.");
  });

  it("gets a simulated node and one sentence why, and every other command works", async () => {
    const up = await k8ts("up", "--nodes", "1", "--port", "0", "--detach", "--no-dashboard");
    expect(up).toMatchObject({ code: 0, said: expect.stringContaining(SENTENCE) });
    expect(up.said).toContain("1 simulated: Pods are reported as running, no containers run");
    expect((await k8ts("kubectl", "get", "nodes")).said).toMatch(/node-1 +Ready/);
    const images = await k8ts("image", "ls");
    expect(images).toMatchObject({ code: 1, said: expect.stringContaining("as root") });
    expect(await k8ts("down")).toMatchObject({ code: 0, said: expect.stringContaining("Stopped.") });
    const real = await k8ts("up", "--runtime", "containerd");
    expect(real).toMatchObject({ code: 1, said: expect.stringContaining(SENTENCE) });
    expect(await k8ts("reset", "--yes")).toMatchObject({ code: 0, said: expect.stringContaining("Deleted") });
  });
});
