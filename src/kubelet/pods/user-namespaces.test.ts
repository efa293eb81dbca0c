import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { UserNamespaces } from "./user-namespaces.ts";

const pod = (uid: string, hostUsers?: boolean): core.Pod => ({
  metadata: { uid },
  spec: { containers: [], ...(hostUsers !== undefined && { hostUsers }) },
});

function made(kept = new Map<string, string>(), idsPerPod = 65_536) {
  const files = {
    podUids: async () => [...kept.keys(), "plain"],
    readUserNamespace: async (uid: string) => kept.get(uid),
    writeUserNamespace: async (uid: string, text: string) => void kept.set(uid, text),
  };
  return { kept, users: new UserNamespaces({ files, idsPerPod, maxPods: 2 }) };
}

describe("user namespaces", () => {
  it("are ranges of ids, which no two Pods share", async () => {
    const { kept, users } = made();
    expect(await users.of(pod("host"))).toBeUndefined();
    const ids = [{ hostId: 65_536, containerId: 0, length: 65_536 }];
    expect(await users.of(pod("a", false))).toEqual({ mode: "POD", uids: ids, gids: ids });
    expect((await users.of(pod("b", false)))?.uids[0]?.hostId).toBe(131_072);
    expect((await users.of(pod("a", false)))?.uids[0]?.hostId).toBe(65_536);
    await expect(users.of(pod("c", false))).rejects.toThrow(
      "could not find an empty slot to allocate a user namespace",
    );
    users.release("a");
    kept.delete("a");
    expect((await users.of(pod("c", false)))?.uids[0]?.hostId).toBe(65_536);
  });

  it("outlive the kubelet, as long as their length stays", async () => {
    const { kept, users } = made();
    await users.of(pod("a", false));
    expect((await made(kept).users.of(pod("b", false)))?.uids[0]?.hostId).toBe(131_072);
    await expect(made(kept, 131_072).users.of(pod("b", false))).rejects.toThrow("wrong user namespace length 65536");
  });
});
