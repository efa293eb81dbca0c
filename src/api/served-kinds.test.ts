import { describe, expect, it } from "vitest";
import { builtIn, optionalKinds } from "./all-kinds.ts";
import { keyOf } from "./definition/define-kind.ts";
import { parseRuntimeConfig, RuntimeConfigError } from "./definition/runtime-config.ts";
import type { Kind } from "./machinery/kind.ts";
import { servedKinds } from "./served-kinds.ts";

const names = (kinds: readonly Kind[]) => new Set(kinds.map(keyOf));
const serve = (text: string, gates: readonly string[] = []) =>
  names(servedKinds({ runtimeConfig: parseRuntimeConfig(text), enabled: (gate) => gates.includes(gate) }));
const all = names([...builtIn, ...optionalKinds]);
const usual = names(builtIn);

describe("--runtime-config", () => {
  it("is empty by default", () => {
    expect(servedKinds()).toBe(builtIn);
    expect(serve("")).toEqual(usual);
  });

  /** `more` and `less`: compared with a default server. */
  it.each<{ text: string; more?: readonly string[]; less?: readonly string[] }>([
    { text: "storage.k8s.io/v1beta1=true", more: ["storage.k8s.io/v1beta1/VolumeAttributesClass"] },
    { text: "storage.k8s.io/v1beta1", more: ["storage.k8s.io/v1beta1/VolumeAttributesClass"] },
    { text: " storage.k8s.io/v1beta1 = T ,,", more: ["storage.k8s.io/v1beta1/VolumeAttributesClass"] },
    { text: "storage.k8s.io/v1beta1=true,storage.k8s.io/v1beta1=false" },
    {
      text: "resource.k8s.io/v1beta1/deviceclasses=true",
      more: ["resource.k8s.io/v1beta1/DeviceClass"],
    },
    {
      text: "api/beta=true,api/beta=false,networking.k8s.io/v1beta1=true,networking.k8s.io/v1beta1/ipaddresses=false",
      more: ["networking.k8s.io/v1beta1/ServiceCIDR"],
    },
    { text: "policy/v1=false", less: ["policy/v1/PodDisruptionBudget"] },
    { text: "batch/v1/cronjobs=0", less: ["batch/v1/CronJob"] },
    { text: "api/all=false,api/ga=true" },
    {
      text: "api/alpha=true",
      more: [
        "coordination.k8s.io/v1alpha2/LeaseCandidate",
        "internal.apiserver.k8s.io/v1alpha1/StorageVersion",
        "resource.k8s.io/v1alpha3/DeviceTaintRule",
        "admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicy",
        "admissionregistration.k8s.io/v1alpha1/MutatingAdmissionPolicyBinding",
      ],
    },
    // A version that Kubernetes has code for, but no kind to serve.
    { text: "node.k8s.io/v1beta1=true" },
    // The gate of the kind is off.
    { text: "certificates.k8s.io/v1beta1=true" },
  ])("$text", ({ text, more = [], less = [] }) => {
    expect(serve(text)).toEqual(new Set([...usual, ...more]).difference(new Set(less)));
  });

  it("serves kinds of feature gates only where these are on", () => {
    expect(serve("certificates.k8s.io/v1beta1=true", ["ClusterTrustBundle"]).difference(usual)).toEqual(
      new Set(["certificates.k8s.io/v1beta1/ClusterTrustBundle"]),
    );
    const gates = ["ClusterTrustBundle", "PodCertificateRequest", "GenericWorkload", "DRAResourcePoolStatus"];
    expect(serve("api/all=true", [...gates, "StorageVersionMigrator"])).toEqual(all);
  });

  it.each([
    ["api/all=false", "invalid runtime-config with only api/all=false"],
    ["api/all=maybe", "invalid value api/all=maybe"],
    ["api/beta", "invalid value api/beta="],
    ["v1=true", "runtime-config invalid key v1"],
    ["a/b/c/d=true", "runtime-config invalid key a/b/c/d"],
    ["b.example/v1,a.example/v1/things=true", "unknown api groups a.example/v1,b.example/v1"],
    ["apps/v2=true", "group version apps/v2 that has not been registered"],
    ["/v2=true", "group version v2 that has not been registered"],
    ["apps/v1=yes", 'invalid value of apps/v1: yes, err: strconv.ParseBool: parsing "yes": invalid syntax'],
    [
      "apps/v1/Deployments=true",
      'invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"',
    ],
  ])("%s is refused", (text, message) => {
    expect(() => serve(text)).toThrow(new RuntimeConfigError(message));
  });
});

it.each([
  [
    "storage.k8s.io/v1beta1/VolumeAttributesClass",
    "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass",
  ],
  [
    "resource.k8s.io/v1beta2/DeviceClass",
    "resource.k8s.io/v1beta2 DeviceClass is deprecated in v1.36+, unavailable in v1.39+",
  ],
  ["certificates.k8s.io/v1beta1/ClusterTrustBundle", undefined],
  ["scheduling.k8s.io/v1alpha2/Workload", undefined],
])("%s warns in Kubernetes' words", (key, warning) => {
  expect(optionalKinds.find((kind) => keyOf(kind) === key)?.deprecated).toBe(warning);
});
