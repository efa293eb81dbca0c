/** Which Secret the parameters of a class name, as a table. */
import { describe, expect, it } from "vitest";
import { driverParameters, secretReference } from "./secret-reference.ts";

const subject = {
  kind: "volumesnapshot",
  contentName: "content",
  snapshot: { namespace: "shop", name: "daily" },
} as const;
/** `<name>` stands for a token, which Kubernetes writes with a dollar sign and braces. */
const templated = (text: string) => text.replace(/<(.*)>/, (_, name: string) => `\${${name}}`);
const named = (name: string, namespace: string) => ({
  "csi.storage.k8s.io/snapshotter-secret-name": templated(name),
  "csi.storage.k8s.io/snapshotter-secret-namespace": templated(namespace),
});

describe("a Secret", () => {
  it.each<[string, Readonly<Record<string, string>>, unknown]>([
    ["none", { fast: "yes" }, undefined],
    ["by its name", named("key", "kube-system"), { namespace: "kube-system", name: "key" }],
    ["of the namespace", named("key", "<volumesnapshot.namespace>"), { namespace: "shop", name: "key" }],
    ["of the snapshot", named("key-<volumesnapshot.name>", "ops"), { namespace: "ops", name: "key-daily" }],
    ["of the content", named("<volumesnapshotcontent.name>", "ops"), { namespace: "ops", name: "content" }],
  ])("%s", (_, parameters, value) => {
    expect(secretReference("Snapshotter", parameters, subject)).toEqual({ ok: true, value });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      "half a name",
      { "csi.storage.k8s.io/snapshotter-secret-name": "key" },
      "failed to get name and namespace template from params: either name and namespace for Snapshotter secrets specified, Both must be specified",
    ],
    ["an empty name", named("", "ops"), "value of either namespace or name is empty"],
    [
      "a name of the user's in the namespace",
      named("key", "<volumesnapshot.name>"),
      'invalid tokens: ["volumesnapshot.name"]',
    ],
    ["an unknown token", named("<nothing>", "ops"), 'invalid tokens: ["nothing"]'],
    ["a bad namespace", named("key", "Ops"), '"Ops" is not a valid namespace name'],
    ["a bad name", named("K_<volumesnapshot.name>", "ops"), 'resolved to "K_daily" which is not a valid secret name'],
  ])("%s is refused", (_, parameters, words) => {
    const refused = secretReference("Snapshotter", parameters, subject);
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining(words) });
  });
});

it.each<[string, Readonly<Record<string, string>>, unknown]>([
  ["its own go to the driver", { fast: "yes", ...named("key", "ops") }, { ok: true, value: { fast: "yes" } }],
  [
    "unknown ones of Kubernetes are refused",
    { "csi.storage.k8s.io/fast": "yes" },
    {
      ok: false,
      error: 'found unknown parameter key "csi.storage.k8s.io/fast" with reserved prefix csi.storage.k8s.io/',
    },
  ],
])("parameters: %s", (_, parameters, want) => expect(driverParameters(parameters)).toEqual(want));
