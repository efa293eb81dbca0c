import { afterEach, describe, expect, it } from "vitest";
import { type certificatesV1beta1, kinds, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { optionalSamples } from "../../apiserver/testing/optional-samples.ts";
import { makeRequest } from "../../pki/testing/request.ts";
import { testControllers } from "../testing/index.ts";
import { planCleaning, podCertificateCleaner } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Request = certificatesV1beta1.PodCertificateRequest;
const CREATED = "2030-01-01T00:00:00Z";
const MINUTE = 60_000;
const at = (minutes: number) => Date.parse(CREATED) + minutes * MINUTE;
const request = (metadata: Request["metadata"]): Request => ({ metadata, spec: {} as Request["spec"] });

describe("when a request goes", () => {
  it.each([
    { name: "a new one", metadata: { creationTimestamp: CREATED }, now: at(0), want: { againAfterMs: 15 * MINUTE } },
    {
      name: "a moment too early",
      metadata: { creationTimestamp: CREATED },
      now: at(15) - 1,
      want: { againAfterMs: 1 },
    },
    { name: "after 15 minutes", metadata: { creationTimestamp: CREATED }, now: at(15), want: "deleted" },
    { name: "long after", metadata: { creationTimestamp: CREATED }, now: at(600), want: "deleted" },
    {
      name: "one that is on its way",
      metadata: { creationTimestamp: CREATED, deletionTimestamp: CREATED },
      now: at(600),
      want: undefined,
    },
    { name: "without a time", metadata: {}, now: at(600), want: undefined },
  ])("$name", ({ metadata, now, want }) => {
    const object = request({ name: "r", namespace: "default", uid: "u", ...metadata });
    const deleted = { steps: [[{ verb: "delete", resource: optional.PodCertificateRequest, object }]] };
    expect(planCleaning(object, now)).toEqual(want === "deleted" ? deleted : want);
  });

  it("is deleted 15 minutes after its creation, issued or not", async () => {
    const features = parseFeatures({ gates: "PodCertificateRequest=true" });
    const runtimeConfig = parseRuntimeConfig("certificates.k8s.io/v1beta1/podcertificaterequests=true");
    const served = servedKinds({ runtimeConfig, enabled: features.enabled });
    const cluster = await testControllers([podCertificateCleaner], { features, kinds: served });
    open.push(() => cluster.close());
    const { client, clock, settle, writes } = cluster;
    const authority = await createAuthority({ commonName: "sample", clock: new VirtualClock() });
    const samples = optionalSamples({
      authorityPem: authority.certPem,
      certificateRequest: makeRequest({ commonName: "" }).der,
    });
    const sample = samples.get("certificates.k8s.io/v1beta1 PodCertificateRequest") as unknown as Request;
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    const requests = client.of(optional.PodCertificateRequest).in("default");
    const names = async () => (await requests.list()).items.map(({ metadata }) => metadata.name);
    await requests.create({ ...sample, metadata: { name: "first" } });
    await clock.advance(10 * MINUTE);
    await requests.create({ ...sample, metadata: { name: "second" } });
    await settle();
    await clock.advance(5 * MINUTE - 1_000);
    expect([await names(), writes()]).toEqual([["first", "second"], 0]);
    await clock.advance(1_000);
    expect(await names()).toEqual(["second"]);
    await clock.advance(10 * MINUTE);
    expect([await names(), writes()]).toEqual([[], 2]);
  });
});
