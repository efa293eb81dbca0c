import { describe, expect, it } from "vitest";
import { type KubeObject, Watched } from "./watched.ts";

const pod = (name: string, resourceVersion: string): KubeObject => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion, managedFields: [] },
});
const names = (watched: Watched<KubeObject>) =>
  [...watched.objects.values()].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);

describe("a list kept current by a watch", () => {
  it("takes all pages, then events, and remembers how far it is", () => {
    const watched = new Watched<KubeObject>();
    watched.page({ metadata: { resourceVersion: "5", continue: "c1" }, items: [pod("a", "1")] });
    expect(watched.next).toEqual({ do: "list", continue: "c1" });
    expect(names(watched)).toEqual(["a@1"]);
    watched.page({ metadata: { resourceVersion: "5" }, items: [pod("b", "2")] });
    expect(watched.next).toEqual({ do: "watch", resourceVersion: "5" });
    expect(watched.event({ type: "ADDED", object: pod("c", "6") })).toBe(true);
    expect(watched.event({ type: "MODIFIED", object: pod("a", "7") })).toBe(true);
    expect(watched.event({ type: "DELETED", object: pod("b", "8") })).toBe(true);
    expect(watched.event({ type: "BOOKMARK", object: pod("", "20") })).toBe(false);
    expect(names(watched)).toEqual(["a@7", "c@6"]);
    expect(watched.next).toEqual({ do: "watch", resourceVersion: "20" });
  });

  it("lists anew when it is too old, and shows the old until the new is complete", () => {
    const watched = new Watched<KubeObject>();
    watched.page({ metadata: { resourceVersion: "5" }, items: [pod("a", "1"), pod("b", "2")] });
    watched.event({ type: "ERROR", object: { metadata: { name: "", uid: "" } } });
    expect(watched.next).toEqual({ do: "list", continue: "" });
    watched.page({ metadata: { resourceVersion: "9", continue: "c" }, items: [pod("b", "8")] });
    expect(names(watched)).toEqual(["a@1", "b@2"]);
    watched.page({ metadata: { resourceVersion: "9" }, items: [] });
    expect(names(watched)).toEqual(["b@8"]);
  });

  it("forgets what may not be read any more", () => {
    const watched = new Watched<KubeObject>();
    watched.page({ metadata: { resourceVersion: "5" }, items: [pod("a", "1")] });
    watched.clear();
    expect(names(watched)).toEqual([]);
    expect(watched.next).toEqual({ do: "list", continue: "" });
  });

  it("leaves out who set which field", () => {
    const watched = new Watched<KubeObject>();
    watched.page({ metadata: { resourceVersion: "1" }, items: [pod("a", "1")] });
    expect(watched.objects.get("default/a")?.metadata).not.toHaveProperty("managedFields");
  });
});
