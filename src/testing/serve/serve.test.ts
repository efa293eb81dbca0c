/** A cluster for other languages, by requests alone. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { type ServedCluster, type ServeOptions, serveCluster } from "./serve.ts";

const NOW = new Date("2030-01-01T00:00:00Z");
const FORK = "/k8ts/fork";
const CLOCK = "/k8ts/clock";
const FAULTS = "/k8ts/faults";
const PODS = "/api/v1/namespaces/default/pods";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const serve = (options: Partial<ServeOptions> = {}) =>
  serveCluster({ port: 0, flows: false, startAt: NOW, log: silentLogger, ...options }, realClock());

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects.
  readonly body: any;
}

/** A client of the cluster of a kubeconfig. */
function clientOf(kubeconfig: string) {
  const server = /server: "?([^"\n]+)/.exec(kubeconfig)?.[1] ?? "";
  const ca = Buffer.from(/certificate-authority-data: "?([^"\n]+)/.exec(kubeconfig)?.[1] ?? "", "base64");
  const token = /token: "?([^"\n]+)/.exec(kubeconfig)?.[1] ?? "";
  return async (method: string, path: string, body?: object, bearer = token): Promise<Answer> => {
    const authorization = bearer === "" ? {} : { authorization: `Bearer ${bearer}` };
    const headers = { "content-type": "application/json", ...authorization };
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = request(`${server}${path}`, { method, ca, headers, agent: false }, async (response) => {
      const answer = await text(response);
      resolve({ status: response.statusCode ?? 0, body: answer === "" ? undefined : JSON.parse(answer) });
    });
    call.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  };
}

describe("a served cluster", () => {
  let cluster: ServedCluster;
  let call: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    cluster = await serve();
    call = clientOf(readFileSync(cluster.connection.kubeconfigFile, "utf8"));
    await cluster.ready;
  });
  afterAll(() => cluster?.stop());
  afterEach(async () => {
    await call("DELETE", FAULTS);
  });

  const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } });
  const phase = async (of: typeof call, name: string) => (await of("GET", `${PODS}/${name}`)).body.status?.phase;

  describe("its clock", () => {
    it("stands still until it is moved, and what falls due happens then", async () => {
      const before = (await call("GET", CLOCK)).body;
      expect(before).toMatchObject({ flows: false, nextDueMs: expect.any(Number) });
      await call("POST", PODS, pod("one"));
      const { body } = await call("POST", CLOCK, { advance: "1m" });
      expect(body).toMatchObject({ nowMs: before.nowMs + 60_000, flows: false });
      expect(await phase(call, "one")).toBe("Running");
    });

    it("advances by hours, though requests have deadlines on it", async () => {
      const before = (await call("GET", CLOCK)).body.nowMs;
      expect((await call("POST", CLOCK, { advance: "2h" })).body.nowMs).toBe(before + 2 * 3_600_000);
    });

    it("jumps on the wall: nothing falls due by that", async () => {
      const before = (await call("GET", CLOCK)).body;
      const after = (await call("POST", CLOCK, { jump: "-1h" })).body;
      expect([after.nowMs, after.nextDueMs]).toEqual([before.nowMs - 3_600_000, before.nextDueMs]);
      await call("POST", CLOCK, { jump: 3_600_000 });
    });

    it.each([
      [{ advance: "-1s" }, "time does not go back: jump sets the wall clock alone"],
      [{ advance: "soon" }, 'advance is a number of milliseconds, or a duration such as 90s or 24h, not "soon"'],
      [{ flows: "yes" }, 'the body has no boolean as "flows"'],
      [{ speed: 2 }, 'the body has an unknown field "speed": there are flows, advance, jump, settle'],
      [[], "the body is no object"],
    ])("refuses %o", async (body, message) => {
      expect(await call("POST", CLOCK, body)).toMatchObject({ status: 400, body: { message } });
    });
  });

  describe("its forks", () => {
    it("have what it has, on ports of their own, and go their own ways", async () => {
      await call("POST", CONFIG_MAPS, { metadata: { name: "shared" } });
      const made = await call("POST", FORK);
      expect(made).toMatchObject({ status: 201, body: { name: expect.stringMatching(/^fork-\d+$/) } });
      const { name, kubeconfig, kubeconfigFile } = made.body;
      expect(readFileSync(kubeconfigFile, "utf8")).toBe(kubeconfig);
      expect((await call("GET", FORK)).body.forks).toEqual([made.body]);

      const fork = clientOf(kubeconfig);
      expect((await fork("GET", `${CONFIG_MAPS}/shared`)).status).toBe(200);
      await fork("DELETE", `${CONFIG_MAPS}/shared`);
      expect((await call("GET", `${CONFIG_MAPS}/shared`)).status).toBe(200);
      await fork("POST", PODS, pod("two"));
      await fork("POST", CLOCK, { advance: "1m" });
      expect(await phase(fork, "two")).toBe("Running");
      const times = await Promise.all([call("GET", CLOCK), fork("GET", CLOCK)]);
      expect(times[1].body.nowMs).toBe(times[0].body.nowMs + 60_000);

      expect(await call("DELETE", `${FORK}?name=${name}`)).toMatchObject({ status: 200, body: { name } });
      await expect(fork("GET", CLOCK)).rejects.toThrow();
      expect(existsSync(kubeconfigFile)).toBe(false);
      expect((await call("GET", FORK)).body.forks).toEqual([]);
      expect(await call("DELETE", `${FORK}?name=${name}`)).toMatchObject({
        status: 404,
        body: { message: `there is no fork "${name}"` },
      });
    });

    it("have forks themselves, which end with them", async () => {
      const { name, kubeconfig } = (await call("POST", FORK)).body;
      const inner = (await clientOf(kubeconfig)("POST", FORK)).body;
      expect((await clientOf(inner.kubeconfig)("GET", CLOCK)).status).toBe(200);
      await call("DELETE", `${FORK}?name=${name}`);
      await expect(clientOf(inner.kubeconfig)("GET", CLOCK)).rejects.toThrow();
    });
  });

  describe("its faults", () => {
    it("concern its clients, by seed: the same requests fail again", async () => {
      const { kubeconfig, name } = (await call("POST", FORK)).body;
      const fork = clientOf(kubeconfig);
      const statuses = async (prefix: string) => {
        const fault = { name: "refuse", status: 409, of: "clients", method: "POST", chance: 0.5 };
        const set = await fork("POST", FAULTS, { seed: 7, faults: [fault] });
        expect(set.body).toEqual({ seed: 7, faults: [fault] });
        const found: number[] = [];
        for (let i = 0; i < 20; i++)
          found.push((await fork("POST", CONFIG_MAPS, { metadata: { name: `${prefix}${i}` } })).status);
        await fork("DELETE", FAULTS);
        return found;
      };
      const first = await statuses("a");
      expect(new Set(first)).toEqual(new Set([201, 409]));
      expect(await statuses("b")).toEqual(first);
      expect((await fork("GET", FAULTS)).body).toEqual({ seed: 7, faults: [] });
      await call("DELETE", `${FORK}?name=${name}`);
    });

    it("kill components, which start again", async () => {
      await call("POST", FAULTS, { faults: [{ name: "kill", component: "kube-scheduler" }] });
      await call("POST", PODS, pod("three"));
      await call("POST", CLOCK, { advance: "2m" });
      expect(await phase(call, "three")).toBe("Running");
    });

    it.each([
      [{ name: "earthquake" }, /^no fault is called "earthquake": there are refuse, loseAnswers, /],
      [{ name: "refuse" }, "the fault refuse needs status"],
      [{ name: "refuse", status: 418 }, "no refusal with the status 418 is known"],
      [{ name: "kill", component: "etcd" }, /^no component is called etcd: there are /],
      [{ name: "kill", component: "kubelet", death: "by boredom" }, /^death is one of: /],
      [{ name: "watches", late: 3 }, /^the fault watches has an unknown field "late": there are /],
      [{}, "each of the faults is an object with a name"],
    ])("are refused where they are unknown: %o", async (fault, message) => {
      const expected = typeof message === "string" ? message : expect.stringMatching(message);
      expect(await call("POST", FAULTS, { faults: [fault] })).toMatchObject({
        status: 400,
        body: { message: expected },
      });
    });
  });

  it.each([FORK, CLOCK, FAULTS])("lets administrators alone to %s", async (path) => {
    expect((await call("GET", path, undefined, "")).status).toBe(403);
    await call("POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "jane" } });
    const tokens = "/api/v1/namespaces/default/serviceaccounts/jane/token";
    const { token } = (await call("POST", tokens, { spec: {} })).body.status;
    for (const method of ["GET", "POST", "DELETE"])
      expect((await call(method, path, undefined, token)).status).toBe(403);
    expect((await call("PUT", path, {})).status).toBe(405);
  });
});

describe("a cluster that is served", () => {
  it("lives by itself where its time flows", async () => {
    const cluster = await serve({ flows: true });
    try {
      const call = clientOf(readFileSync(cluster.connection.kubeconfigFile, "utf8"));
      await call("POST", PODS, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
      await expect.poll(async () => (await call("GET", `${PODS}/p`)).body.status?.phase).toBe("Running");
      expect((await call("GET", CLOCK)).body.flows).toBe(true);
      // Until somebody stops it.
      const stopped = (await call("POST", CLOCK, { flows: false })).body;
      expect((await call("GET", CLOCK)).body).toEqual(stopped);
    } finally {
      await cluster.stop();
    }
  });

  it("has what it was given, in the kubeconfig that it was told, and leaves nothing", async () => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-serve-test-"));
    try {
      const [file, manifest] = [join(dir, "kubeconfig"), join(dir, "objects.yaml")];
      writeFileSync(manifest, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: given, namespace: default}\n");
      const cluster = await serve({ kubeconfig: file, manifests: [manifest], nodes: 0 });
      expect(cluster.connection.kubeconfigFile).toBe(file);
      await cluster.ready;
      const call = clientOf(readFileSync(file, "utf8"));
      expect((await call("GET", `${CONFIG_MAPS}/given`)).status).toBe(200);
      await cluster.stop();
      expect(existsSync(file)).toBe(false);
      await expect(call("GET", CLOCK)).rejects.toThrow();
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("ends though it was not ready yet, and says what was wrong with what it was given", async () => {
    const cluster = await serve({ manifests: ["/nowhere/at/all.yaml"] }).catch((error: Error) => error);
    expect(cluster instanceof Error ? cluster.message : await cluster.ready.catch(String)).toContain(
      "/nowhere/at/all.yaml",
    );
    if (!(cluster instanceof Error)) await cluster.stop();
  });
});
