/** The rows of the OCI distribution specification v1.1, by the sections of its text. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { openRegistry, type Registry } from "./index.ts";

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const sha256 = (bytes: Uint8Array | string) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
const sha512 = (bytes: Uint8Array | string) => `sha512:${createHash("sha512").update(bytes).digest("hex")}`;
const UNKNOWN = sha256("nobody has this");

let dir: string;
let registry: Registry;
let base: string;
let nth = 0;
/** Of this test alone. */
let repository: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "registry-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(async () => {
  await open();
  repository = `team/app-${nth++}`;
});
afterEach(() => registry.close());

async function open(): Promise<void> {
  registry = await openRegistry({ dir, hosts: ["127.0.0.1"], port: 0, clock: realClock(), log: silentLogger });
  base = `http://127.0.0.1:${registry.port}`;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

async function ask(path: string, { method = "GET", headers = {}, body }: Sent = {}) {
  const response = await fetch(new URL(path, base), {
    method,
    headers,
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const header = (name: string) => response.headers.get(name);
  const isJson = header("content-type")?.includes("json") === true && bytes.length > 0;
  const json = isJson ? JSON.parse(bytes.toString()) : undefined;
  return { status: response.status, header, bytes, json, code: json?.errors?.[0]?.code as string | undefined };
}

async function pushBlob(bytes: Uint8Array | string, to = repository, digest = sha256(bytes)): Promise<string> {
  const answer = await ask(`/v2/${to}/blobs/uploads/?digest=${digest}`, { method: "POST", body: bytes });
  expect(answer.status).toBe(201);
  return digest;
}

function imageOf(config: string, layers: readonly string[], more: object = {}): string {
  const descriptor = (digest: string) => ({ mediaType: "application/octet-stream", digest, size: 3 });
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: IMAGE,
    config: { ...descriptor(config), mediaType: "application/vnd.oci.image.config.v1+json" },
    layers: layers.map(descriptor),
    ...more,
  });
}

async function putManifest(reference: string, text: string, type = IMAGE, to = repository) {
  return ask(`/v2/${to}/manifests/${reference}`, { method: "PUT", headers: { "content-type": type }, body: text });
}

async function pushImage(tag: string, more: object = {}): Promise<{ readonly digest: string; readonly text: string }> {
  const config = await pushBlob(`{"config of":"${tag}"}`);
  const layer = await pushBlob(`layer of ${tag}`);
  const text = imageOf(config, [layer], more);
  expect((await putManifest(tag, text)).status).toBe(201);
  return { digest: sha256(text), text };
}

describe("determining support", () => {
  it.each(["/v2/", "/v2"])("GET %s is a 200", async (path) => {
    const { status, header } = await ask(path);
    expect(status).toBe(200);
    expect(header("docker-distribution-api-version")).toBe("registry/2.0");
  });

  it("other paths and methods are refused in the specification's words", async () => {
    expect((await ask("/v1/")).status).toBe(404);
    expect(await ask(`/v2/${repository}/tags/list`, { method: "POST" })).toMatchObject({
      status: 405,
      code: "UNSUPPORTED",
    });
    expect(await ask(`/v2/${repository}/blobs/${UNKNOWN}`, { method: "PATCH" })).toMatchObject({ status: 405 });
  });
});

describe("pull", () => {
  it("a manifest by tag and by digest, GET and HEAD", async () => {
    const { digest, text } = await pushImage("1.0");
    for (const reference of ["1.0", digest]) {
      const got = await ask(`/v2/${repository}/manifests/${reference}`);
      expect([got.status, got.bytes.toString(), got.header("docker-content-digest")]).toEqual([200, text, digest]);
      expect(got.header("content-type")).toBe(IMAGE);
      const head = await ask(`/v2/${repository}/manifests/${reference}`, { method: "HEAD" });
      expect([head.status, head.bytes.length, head.header("content-length")]).toEqual([200, 0, String(text.length)]);
      expect(head.header("docker-content-digest")).toBe(digest);
    }
  });

  it("a blob, GET and HEAD", async () => {
    const bytes = randomBytes(300_000);
    const digest = await pushBlob(bytes);
    const got = await ask(`/v2/${repository}/blobs/${digest}`);
    expect([got.status, got.bytes.equals(bytes), got.header("docker-content-digest")]).toEqual([200, true, digest]);
    const head = await ask(`/v2/${repository}/blobs/${digest}`, { method: "HEAD" });
    expect([head.status, head.header("content-length")]).toEqual([200, "300000"]);
  });

  it.each([
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=8-", 206, "89", "bytes 8-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=5-99", 206, "56789", "bytes 5-9/10"],
    ["bytes=10-", 416, undefined, "bytes */10"],
    ["lines=1-2", 200, "0123456789", null],
  ] as const)("part of a blob: %s", async (range, status, text, told) => {
    const digest = await pushBlob("0123456789");
    const got = await ask(`/v2/${repository}/blobs/${digest}`, { headers: { range } });
    expect([got.status, got.header("content-range")]).toEqual([status, told]);
    if (text !== undefined) expect(got.bytes.toString()).toBe(text);
  });

  it.each([
    ["a manifest that is unknown by tag", "manifests/none", 404, "MANIFEST_UNKNOWN"],
    ["a manifest that is unknown by digest", `manifests/${UNKNOWN}`, 404, "MANIFEST_UNKNOWN"],
    ["a tag that cannot be", "manifests/-no", 400, "MANIFEST_INVALID"],
    ["an unknown blob", `blobs/${UNKNOWN}`, 404, "BLOB_UNKNOWN"],
    ["a digest that is none", "blobs/sha256:12", 400, "DIGEST_INVALID"],
    ["an algorithm that is none", `blobs/constructor:${"a".repeat(64)}`, 400, "DIGEST_INVALID"],
  ])("%s", async (_what, path, status, code) => {
    expect(await ask(`/v2/${repository}/${path}`)).toMatchObject({ status, code });
  });

  it.each(["Upper/case", "a//b", "-a", "a/../b", "a".repeat(256)])(
    "a repository's name that cannot be: %s",
    async (name) => {
      expect(await ask(`/v2/${name.replaceAll("..", "%2e%2e")}/tags/list`)).toMatchObject({
        status: expect.any(Number),
      });
      expect((await ask(`/v2/${encodeURIComponent(name)}/tags/list`)).code).toMatch(/NAME_INVALID|UNSUPPORTED/);
    },
  );

  it("a digest alone gives no access to the bytes of another repository", async () => {
    const digest = await pushBlob("a secret", "other/app");
    expect((await ask(`/v2/${repository}/blobs/${digest}`)).status).toBe(404);
    expect((await ask(`/v2/other/app/blobs/${digest}`)).status).toBe(200);
  });
});

describe("push of blobs", () => {
  it("POST, then PUT", async () => {
    const digest = sha256("in one piece");
    const begun = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    expect(begun.status).toBe(202);
    const location = begun.header("location") ?? "";
    const put = await ask(`${location}?digest=${digest}`, { method: "PUT", body: "in one piece" });
    expect([put.status, put.header("location")]).toEqual([201, `/v2/${repository}/blobs/${digest}`]);
    expect((await ask(put.header("location") ?? "")).bytes.toString()).toBe("in one piece");
    expect(await ask(location)).toMatchObject({ status: 404, code: "BLOB_UPLOAD_UNKNOWN" });
  });

  it("POST alone, with sha256 and with sha512", async () => {
    await pushBlob("alone");
    const digest = await pushBlob("alone, with the longer digest", repository, sha512("alone, with the longer digest"));
    expect((await ask(`/v2/${repository}/blobs/${digest}`)).bytes.toString()).toBe("alone, with the longer digest");
  });

  it("in chunks, with what has arrived on request", async () => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const location = header("location") ?? "";
    const patch = (body: string, range?: string) =>
      ask(location, { method: "PATCH", body, headers: range === undefined ? {} : { "content-range": range } });
    expect(await patch("0123", "0-3").then((answer) => [answer.status, answer.header("range")])).toEqual([202, "0-3"]);
    const early = await patch("89", "8-9");
    expect([early.status, early.header("range")]).toEqual([416, "0-3"]);
    expect((await patch("0123", "0-3")).status).toBe(416);
    expect((await patch("45", "nonsense")).status).toBe(416);
    const at = await ask(location);
    expect([at.status, at.header("range"), at.header("location")]).toEqual([204, "0-3", location]);
    expect((await patch("4567", "4-7")).header("range")).toBe("0-7");
    const digest = sha256("0123456789");
    const put = await ask(`${location}?digest=${digest}`, {
      method: "PUT",
      body: "89",
      headers: { "content-range": "8-9" },
    });
    expect(put.status).toBe(201);
    expect((await ask(`/v2/${repository}/blobs/${digest}`)).bytes.toString()).toBe("0123456789");
  });

  it("a stream without a range, and the end without a body", async () => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const location = header("location") ?? "";
    expect((await ask(location, { method: "PATCH", body: "streamed" })).status).toBe(202);
    expect((await ask(`${location}?digest=${sha256("streamed")}`, { method: "PUT" })).status).toBe(201);
  });

  it.each([
    ["another digest", sha256("something else")],
    ["no digest", ""],
    ["a digest that is none", "sha256:xyz"],
  ])("%s is refused, and nothing is kept", async (_what, digest) => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const put = await ask(`${header("location")}?digest=${digest}`, { method: "PUT", body: "text" });
    expect(put).toMatchObject({ status: 400, code: "DIGEST_INVALID" });
    expect((await ask(`/v2/${repository}/blobs/${sha256("text")}`)).status).toBe(404);
  });

  it("is cancelled by DELETE", async () => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const location = header("location") ?? "";
    expect((await ask(location, { method: "DELETE" })).status).toBe(204);
    expect((await ask(location, { method: "DELETE" })).code).toBe("BLOB_UPLOAD_UNKNOWN");
    expect(readdirSync(join(dir, "uploads"))).toEqual([]);
  });

  it("belongs to its repository", async () => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const elsewhere = (header("location") ?? "").replace(repository, "another/one");
    expect((await ask(elsewhere)).code).toBe("BLOB_UPLOAD_UNKNOWN");
  });

  it("mounts what another repository has", async () => {
    const digest = await pushBlob("shared", "source/app");
    const mount = (from: string) => ask(`/v2/${repository}/blobs/uploads/?mount=${digest}${from}`, { method: "POST" });
    const refused = await mount("&from=has/nothing");
    expect([refused.status, refused.header("location")]).toEqual([202, expect.stringContaining("/blobs/uploads/")]);
    const mounted = await mount("&from=source/app");
    expect([mounted.status, mounted.header("location")]).toEqual([201, `/v2/${repository}/blobs/${digest}`]);
    expect((await ask(`/v2/${repository}/blobs/${digest}`)).bytes.toString()).toBe("shared");
    repository = "third/one";
    expect((await mount("")).status).toBe(201);
  });

  it("goes on after a client that disconnected", async () => {
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    const location = header("location") ?? "";
    await new Promise<void>((resolve) => {
      const broken = httpRequest(new URL(location, base), { method: "PATCH", headers: { "content-length": "100" } });
      broken.on("error", () => resolve());
      broken.write("half", () => broken.destroy());
    });
    await expect.poll(async () => (await ask(location)).header("range")).toBe("0-3");
    const digest = sha256("half and half");
    const put = await ask(`${location}?digest=${digest}`, {
      method: "PUT",
      body: " and half",
      headers: { "content-range": "4-12" },
    });
    expect(put.status).toBe(201);
  });
});

describe("push of manifests", () => {
  it("answers with place and digest", async () => {
    const config = await pushBlob("{}");
    const text = imageOf(config, []);
    const put = await putManifest("latest", text);
    expect([put.status, put.header("location")]).toEqual([201, `/v2/${repository}/manifests/${sha256(text)}`]);
    expect(put.header("docker-content-digest")).toBe(sha256(text));
    expect((await putManifest(sha256(text), text)).status).toBe(201);
    expect((await putManifest(sha512(text), text)).header("docker-content-digest")).toBe(sha512(text));
  });

  it("a tag moves", async () => {
    const first = await pushImage("moving");
    const config = await pushBlob("another config");
    const second = imageOf(config, []);
    await putManifest("moving", second);
    expect((await ask(`/v2/${repository}/manifests/moving`)).bytes.toString()).toBe(second);
    expect((await ask(`/v2/${repository}/manifests/${first.digest}`)).bytes.toString()).toBe(first.text);
  });

  it("an index of images", async () => {
    const image = await pushImage("amd64");
    const index = (digest: string) =>
      JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [{ mediaType: IMAGE, digest, size: 3 }] });
    expect((await putManifest("all", index(image.digest), INDEX)).status).toBe(201);
    expect(await putManifest("all", index(UNKNOWN), INDEX)).toMatchObject({
      status: 400,
      code: "MANIFEST_BLOB_UNKNOWN",
    });
  });

  it.each([
    ["no JSON", "{", "MANIFEST_INVALID"],
    ["a list", "[]", "MANIFEST_INVALID"],
    ["another version", JSON.stringify({ schemaVersion: 1 }), "MANIFEST_INVALID"],
    ["no config", JSON.stringify({ schemaVersion: 2, layers: [] }), "MANIFEST_INVALID"],
    ["another media type than is said", imageOf(UNKNOWN, [], { mediaType: INDEX }), "MANIFEST_INVALID"],
    ["a config that is not here", imageOf(UNKNOWN, []), "MANIFEST_BLOB_UNKNOWN"],
    ["a descriptor without a digest", JSON.stringify({ schemaVersion: 2, config: {}, layers: [] }), "MANIFEST_INVALID"],
  ])("%s is refused", async (_what, text, code) => {
    expect(await putManifest("bad", text)).toMatchObject({ status: 400, code });
    expect((await ask(`/v2/${repository}/manifests/bad`)).status).toBe(404);
  });

  it("another digest than its own is refused, and one that is too large", async () => {
    const config = await pushBlob("{}");
    const text = imageOf(config, []);
    expect(await putManifest(UNKNOWN, text)).toMatchObject({ status: 400, code: "DIGEST_INVALID" });
    const large = imageOf(config, [], { annotations: { text: "x".repeat(5 * 1024 * 1024) } });
    expect(await putManifest("large", large)).toMatchObject({ status: 413, code: "SIZE_INVALID" });
  });
});

describe("content discovery", () => {
  it("tags, in order and in pages", async () => {
    for (const tag of ["c", "a", "b", "B"]) await pushImage(tag);
    const path = `/v2/${repository}/tags/list`;
    expect((await ask(path)).json).toEqual({ name: repository, tags: ["B", "a", "b", "c"] });
    const page = await ask(`${path}?n=2`);
    expect(page.json.tags).toEqual(["B", "a"]);
    const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(page.header("link") ?? "") ?? [];
    const rest = await ask(next);
    expect([rest.json.tags, rest.header("link")]).toEqual([["b", "c"], null]);
    expect((await ask(`${path}?last=b`)).json.tags).toEqual(["c"]);
    expect((await ask(`${path}?n=0`)).json.tags).toEqual([]);
    expect((await ask(`${path}?n=x`)).status).toBe(400);
    expect(await ask("/v2/nobody/knows/tags/list")).toMatchObject({ status: 404, code: "NAME_UNKNOWN" });
  });

  it("repositories", async () => {
    await pushImage("one");
    expect((await ask("/v2/_catalog?n=1000")).json.repositories).toContain(repository);
  });

  it("referrers, also of what is not here yet", async () => {
    const subject = await pushImage("subject");
    const path = `/v2/${repository}/referrers/${subject.digest}`;
    expect((await ask(path)).json).toEqual({ schemaVersion: 2, mediaType: INDEX, manifests: [] });
    const config = await pushBlob("{}");
    const refer = async (artifactType: string) => {
      const about = { mediaType: IMAGE, digest: subject.digest, size: subject.text.length };
      const text = imageOf(config, [], { subject: about, artifactType, annotations: { made: "by a test" } });
      const put = await putManifest(sha256(text), text);
      expect([put.status, put.header("oci-subject")]).toEqual([201, subject.digest]);
      return {
        mediaType: IMAGE,
        digest: sha256(text),
        size: text.length,
        artifactType,
        annotations: { made: "by a test" },
      };
    };
    const [signature, bill] = [await refer("example/signature"), await refer("example/sbom")];
    const all = await ask(path);
    expect(all.header("content-type")).toBe(INDEX);
    expect(all.json.manifests).toHaveLength(2);
    expect(all.json.manifests).toEqual(expect.arrayContaining([signature, bill]));
    const some = await ask(`${path}?artifactType=${encodeURIComponent("example/sbom")}`);
    expect([some.json.manifests, some.header("oci-filters-applied")]).toEqual([[bill], "artifactType"]);
    await ask(`/v2/${repository}/manifests/${bill.digest}`, { method: "DELETE" });
    expect((await ask(path)).json.manifests).toEqual([signature]);
  });
});

describe("content management", () => {
  const remove = (path: string) => ask(path, { method: "DELETE" });

  it("a tag, and nothing else", async () => {
    const { digest } = await pushImage("gone");
    expect((await remove(`/v2/${repository}/manifests/gone`)).status).toBe(202);
    expect((await ask(`/v2/${repository}/manifests/gone`)).status).toBe(404);
    expect((await ask(`/v2/${repository}/manifests/${digest}`)).status).toBe(200);
    expect((await remove(`/v2/${repository}/manifests/gone`)).code).toBe("MANIFEST_UNKNOWN");
  });

  it("a manifest, with its tags", async () => {
    const { digest } = await pushImage("v1");
    expect((await remove(`/v2/${repository}/manifests/${digest}`)).status).toBe(202);
    expect((await ask(`/v2/${repository}/tags/list`)).json.tags).toEqual([]);
    expect((await remove(`/v2/${repository}/manifests/${digest}`)).status).toBe(404);
  });

  it("a blob, whose bytes stay as long as another repository has it", async () => {
    const digest = await pushBlob("kept by another");
    await ask(`/v2/second/app/blobs/uploads/?mount=${digest}&from=${repository}`, { method: "POST" });
    expect((await remove(`/v2/${repository}/blobs/${digest}`)).status).toBe(202);
    expect((await ask(`/v2/${repository}/blobs/${digest}`)).status).toBe(404);
    expect((await ask(`/v2/second/app/blobs/${digest}`)).bytes.toString()).toBe("kept by another");
    expect((await remove(`/v2/second/app/blobs/${digest}`)).status).toBe(202);
    expect(readdirSync(join(dir, "blobs", "sha256"))).not.toContain(digest.slice("sha256:".length));
    expect((await remove(`/v2/${repository}/blobs/${digest}`)).code).toBe("BLOB_UNKNOWN");
  });
});

describe("the process", () => {
  it("has everything after a restart, but no uploads", async () => {
    const { digest, text } = await pushImage("durable");
    const { header } = await ask(`/v2/${repository}/blobs/uploads/`, { method: "POST" });
    await registry.close();
    await open();
    expect((await ask(`/v2/${repository}/manifests/durable`)).bytes.toString()).toBe(text);
    expect((await ask(`/v2/${repository}/manifests/${digest}`)).status).toBe(200);
    expect((await ask(header("location") ?? "")).code).toBe("BLOB_UPLOAD_UNKNOWN");
  });

  it("pushes of one blob at the same time all succeed", async () => {
    const bytes = randomBytes(100_000);
    const digests = await Promise.all(Array.from({ length: 8 }, (_, at) => pushBlob(bytes, `${repository}-${at % 3}`)));
    expect(new Set(digests).size).toBe(1);
    expect((await ask(`/v2/${repository}-2/blobs/${digests[0]}`)).bytes.equals(bytes)).toBe(true);
  });

  it("pages of other sites are refused", async () => {
    const asked = await ask("/v2/_catalog", { headers: { origin: "http://evil.example" } });
    expect(asked).toMatchObject({ status: 403, code: "DENIED" });
    expect((await ask("/v2/_catalog", { headers: { origin: base } })).status).toBe(200);
  });

  it("a folder is served by one process", async () => {
    // The lock belongs to the process, so another connection of this one stands for another process.
    await expect(
      openRegistry({ dir, hosts: ["127.0.0.1"], port: 0, clock: realClock(), log: silentLogger }),
    ).rejects.toThrow(`is being served by process ${process.pid}`);
    expect((await ask("/v2/")).status).toBe(200);
  });
});
