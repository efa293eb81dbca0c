/** StorageVersion `<group>.<resource>`: the versions in which the API servers write and read a resource. */
import { ageColumn, firstThree } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { checkDns1035Label, checkDns1123Subdomain } from "../machinery/names/names.ts";
import type { StorageVersion as StorageVersionObject } from "../types/apiserverinternal-v1alpha1.ts";
import { validateStorageVersionStatus } from "./validation.ts";

const status = "io.k8s.api.apiserverinternal.v1alpha1.StorageVersionStatus";

export const StorageVersion = defineKind<StorageVersionObject>("internal.apiserver.k8s.io/v1alpha1", "StorageVersion", {
  validateName: (name) => {
    const dot = name.lastIndexOf(".");
    if (dot < 0) return ["name must be in the form of <group>.<resource>"];
    return [
      ...checkDns1123Subdomain(name.slice(0, dot)).map((why) => `the group segment ${why}`),
      ...checkDns1035Label(name.slice(dot + 1)).map((why) => `the resource segment ${why}`),
    ];
  },
  create: { validate: ({ status }, at) => validateStorageVersionStatus(status ?? {}, at.child("status")) },
  update: { allowUnconditional: false },
  subresources: {
    status: { validate: ({ status }, _old, at) => validateStorageVersionStatus(status ?? {}, at.child("status")) },
  },
  columns: [
    {
      name: "CommonEncodingVersion",
      type: "string",
      doc: `${status}.commonEncodingVersion`,
      cell: ({ status }) => status?.commonEncodingVersion ?? "<unset>",
    },
    {
      name: "StorageVersions",
      type: "string",
      doc: `${status}.storageVersions`,
      cell: ({ status }) =>
        firstThree(
          (status?.storageVersions ?? []).map(
            ({ apiServerID, encodingVersion }) => `${apiServerID}=${encodingVersion}`,
          ),
        ) || "<unset>",
    },
    ageColumn,
  ],
});
