import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger, VirtualClock } from "#base";
import type { Credential } from "./keyring.ts";
import { mustVerify, type Verification } from "./pull-access.ts";
import { pullRecords } from "./pull-records.ts";

let rootDir: string;
const clock = new VirtualClock();
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), "k8ts-pull-records-"));
});
afterEach(() => rmSync(rootDir, { recursive: true }));

const ID = "sha256:1";
const IMAGE = "r.example/team/app:1";
const PRESENT = { id: ID, repoTags: [IMAGE] };
const present = [{ id: ID, repoTags: [IMAGE], repoDigests: [], sizeBytes: 1 }];
const open = (policy: Verification["policy"] = "NeverVerifyPreloadedImages") =>
  pullRecords({
    ...{ rootDir, clock, log: silentLogger },
    verification: { policy, allowlist: [] },
    images: async () => present,
  });
const secret = (name: string, password = "p", uid = name): Credential => ({
  auth: { username: "u", password },
  source: { kind: "secret", namespace: "ns", name, uid },
});
const account = (name: string): Credential => ({
  auth: { username: "u", password: "t" },
  source: { kind: "serviceAccount", namespace: "ns", name, uid: name },
});
const node: Credential = { auth: { username: "n" }, source: { kind: "node" } };

describe("records of pulls", () => {
  it.each<[string, Credential | undefined, readonly Credential[], boolean]>([
    ["without credentials: for all", undefined, [], true],
    ["with those of the node: for all", node, [], true],
    ["with a Secret: not without", secret("a"), [], false],
    ["with a Secret: for the same", secret("a"), [secret("a")], true],
    ["with a Secret: for the same credentials in another", secret("a"), [secret("b")], true],
    ["with a Secret: for the same one with a new password", secret("a"), [secret("a", "new")], true],
    ["with a Secret: not for another with other credentials", secret("a"), [secret("b", "other")], false],
    ["with a Secret: not for one made anew with other ones", secret("a"), [secret("a", "other", "uid-2")], false],
    ["with an account: for the same", account("a"), [account("a")], true],
    ["with an account: not for another", account("a"), [account("b")], false],
    ["with an account: not for a Secret", account("a"), [secret("a")], false],
  ])("pulled %s", async (_, used, own, want) => {
    const records = open();
    await records.intend(IMAGE);
    await records.pulled(IMAGE, ID, used);
    expect(await records.mayUse(IMAGE, PRESENT, own)).toBe(want);
    // A kubelet after it knows the same.
    expect(await open().mayUse(IMAGE, PRESENT, own)).toBe(want);
    // The same image by another name has to be shown anew.
    expect(await open().mayUse("other.example/app:1", PRESENT, own)).toBe(false);
  });

  it("learn what is the same", async () => {
    const records = open();
    await records.pulled(IMAGE, ID, secret("a"));
    expect(await records.mayUse(IMAGE, PRESENT, [secret("b")])).toBe(true);
    expect(await records.mayUse(IMAGE, PRESENT, [secret("b", "new")])).toBe(true);
  });

  it("a preloaded image is for all, unless all are verified", async () => {
    expect(await open().mayUse(IMAGE, PRESENT, [])).toBe(true);
    expect(await open("AlwaysVerify").mayUse(IMAGE, PRESENT, [])).toBe(false);
    expect(await open("NeverVerifyAllowlistedImages").mayUse(IMAGE, PRESENT, [])).toBe(false);
  });

  it("an image whose pull was cut off by a crash is for nobody without credentials", async () => {
    await open().intend(IMAGE);
    const after = open();
    expect(await after.mayUse(IMAGE, PRESENT, [])).toBe(false);
    expect(readdirSync(join(rootDir, "image_manager/pulling"))).toEqual([]);
    expect(await open("NeverVerify").mayUse(IMAGE, PRESENT, [])).toBe(true);
  });

  it("a failed pull leaves nothing", async () => {
    const records = open();
    await records.intend(IMAGE);
    await records.failed(IMAGE);
    expect(await records.mayUse(IMAGE, PRESENT, [])).toBe(true);
  });

  it("a damaged record grants nothing, and is written anew", async () => {
    const records = open();
    await records.pulled(IMAGE, ID, undefined);
    const [file = ""] = readdirSync(join(rootDir, "image_manager/pulled"));
    writeFileSync(join(rootDir, "image_manager/pulled", file), "{");
    expect(await records.mayUse(IMAGE, PRESENT, [])).toBe(false);
    await records.pulled(IMAGE, ID, undefined);
    expect(await records.mayUse(IMAGE, PRESENT, [])).toBe(true);
  });

  it("are forgotten with their images, but not what was pulled meanwhile", async () => {
    const records = open();
    await records.pulled(IMAGE, ID, secret("a"));
    await records.prune(new Set(), clock.now());
    expect(await records.mayUse(IMAGE, PRESENT, [])).toBe(false);
    await records.prune(new Set(), clock.now() + 1);
    expect(await records.mayUse(IMAGE, PRESENT, [])).toBe(true);
  });

  it.each<[string, boolean]>([
    ["r.example/team/app", true],
    ["r.example/team/*", true],
    ["r.example/*", true],
    ["r.example/te*", false],
    ["r.example/team/ap", false],
  ])("an allowlist with %s: %s", (pattern, isAllowed) =>
    expect(mustVerify({ policy: "NeverVerifyAllowlistedImages", allowlist: [pattern] }, IMAGE, false)).toBe(!isAllowed),
  );

  it.each<[string, string, boolean]>([
    ["the name that somebody gave it on the node", "localhost/own:1", true],
    ["the same with another spelling", "docker.io/library/other:1", true],
    ["the name that it was pulled by", IMAGE, false],
    ["its digest", `r.example/team/app@sha256:${"0".repeat(64)}`, false],
    ["a name that the node does not have", "evil.example/app:1", false],
    ["its id", "sha256:1", false],
  ])("an image that was pulled with a Secret, by %s", async (_, name, want) => {
    const records = open();
    await records.intend(IMAGE);
    await records.pulled(IMAGE, ID, secret("a"));
    const all = { id: ID, repoTags: [IMAGE, "localhost/own:1", "docker.io/library/other:1"] };
    expect(await records.mayUse(name, all, [])).toBe(want);
  });

  it("a name in another spelling than that of the pull is the same name", async () => {
    const records = open();
    await records.intend("private/app:1");
    await records.pulled("private/app:1", ID, secret("a"));
    const all = { id: ID, repoTags: ["docker.io/private/app:1"] };
    expect(await records.mayUse("docker.io/private/app:1", all, [])).toBe(false);
  });
});
