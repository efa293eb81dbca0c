import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { labelOption, mountLabel, selinuxHere } from "./selinux.ts";

describe("a machine", () => {
  const files: Readonly<Record<string, string>> = {
    "/sys/fs/selinux/enforce": "1",
    "/etc/selinux/config": "SELINUX=enforcing\nSELINUXTYPE=targeted\n",
    "/etc/selinux/targeted/contexts/lxc_contexts":
      'process = "system_u:system_r:container_t:s0"\nfile = "system_u:object_r:container_file_t:s0"\n',
  };
  const here = (without?: string) =>
    selinuxHere(async (path) => {
      const text = files[path];
      if (text === undefined || path === without) throw new Error("ENOENT");
      return text;
    });

  it.each([
    { name: "with SELinux", without: undefined, want: { fileLabel: "system_u:object_r:container_file_t:s0" } },
    { name: "without SELinux", without: "/sys/fs/selinux/enforce", want: undefined },
    { name: "whose policy has no containers", without: "/etc/selinux/targeted/contexts/lxc_contexts", want: undefined },
  ])("$name", async ({ without, want }) => {
    expect(await here(without)).toEqual(want);
  });
});

describe("the label of a mount", () => {
  const selinux = { fileLabel: "system_u:object_r:container_file_t:s0" };
  const LABEL = "system_u:object_r:container_file_t:s0:c1,c2";
  const level = (text?: string) => ({ seLinuxOptions: text === undefined ? { type: "t" } : { level: text } });
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const podOf = (context: core.PodSecurityContext, ...own: core.SecurityContext[]): core.Pod => ({
    metadata: {},
    spec: {
      securityContext: context,
      containers: [{}, ...own].map((securityContext, at) => ({ name: `c${at}`, volumeMounts, securityContext })),
    },
  });
  const pod = podOf(level("s0:c1,c2"));
  const usual = {
    ...{ selinux, pod, accessModes: ["ReadWriteOncePod"], driver: { seLinuxMount: true }, forAllModes: false },
    want: LABEL as string | undefined,
  };

  it.each([
    { name: "of a volume of one Pod", ...usual },
    { name: "without SELinux", ...usual, selinux: undefined, want: undefined },
    { name: "of a driver that cannot", ...usual, driver: {}, want: undefined },
    {
      name: "of a Pod that wants its files labelled",
      ...usual,
      pod: podOf({ ...level("s0:c1,c2"), seLinuxChangePolicy: "Recursive" }),
      want: undefined,
    },
    { name: "of a volume of several Pods", ...usual, accessModes: ["ReadWriteMany"], want: undefined },
    { name: "of one, by the gate", ...usual, accessModes: ["ReadWriteMany"], forAllModes: true },
    { name: "of a Pod without a level", ...usual, pod: podOf(level()), want: undefined },
    { name: "of a Pod without options", ...usual, pod: podOf({}), want: undefined },
    {
      name: "with the user of the Pod",
      ...usual,
      pod: podOf({ seLinuxOptions: { user: "me_u", level: "s0" } }),
      want: "me_u:object_r:container_file_t:s0",
    },
    { name: "of a volume that no container mounts", ...usual, volumeName: "raw", want: undefined },
  ])("$name", ({ want, selinux: here, ...given }) => {
    expect(mountLabel(here, { volumeName: "data", ...given })).toBe(want);
  });

  it("is one for all containers of a Pod", () => {
    const two = podOf(level("s0:c1,c2"), level("s0:c3"));
    expect(() => mountLabel(selinux, { ...usual, volumeName: "data", pod: two })).toThrow(
      "multiple SELinux labels found: system_u:object_r:container_file_t:s0:c1,c2,system_u:object_r:container_file_t:s0:c3",
    );
  });

  it("is quoted", () => {
    expect(labelOption(LABEL)).toBe(`context="${LABEL}"`);
  });
});
