import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { settled } from "#base";
import { StoredObject } from "../cache/stored-object.ts";
import type { Forms } from "../rest/forms.ts";
import { InTurn } from "./in-turn.ts";

const object = (name: string): StoredObject =>
  new StoredObject({ key: `/${name}`, revision: 1 }, { metadata: { name } } as KubeObject);

/** Forms that become known when the test says so. */
function heldForms() {
  const known = new Map<StoredObject, StoredObject>();
  const waiting = new Map<StoredObject, PromiseWithResolvers<void>>();
  const forms = {
    known: (stored) => known.get(stored),
    load: async (objects) => {
      await Promise.all(
        objects.map((stored) => {
          const held = waiting.get(stored) ?? Promise.withResolvers<void>();
          waiting.set(stored, held);
          return held.promise;
        }),
      );
    },
  } as Partial<Forms> as Forms;
  const finish = (stored: StoredObject) => {
    known.set(stored, stored);
    waiting.get(stored)?.resolve();
  };
  return { forms, finish, fail: (stored: StoredObject) => waiting.get(stored)?.reject(new Error("no form")) };
}

function setUp() {
  const done: string[] = [];
  const held = heldForms();
  const inTurn = new InTurn(held.forms, (error) => done.push(String(error)));
  const run = (stored: StoredObject) => inTurn.run([stored], (own) => done.push(own(stored).key));
  return { ...held, done, inTurn, run };
}

describe("things in turn", () => {
  it("are done at once where all is known", () => {
    const done: string[] = [];
    new InTurn(undefined, () => {}).run([object("a")], (own) => done.push(own(object("a")).key));
    expect(done).toEqual(["/a"]);
  });

  it("wait for those before them", async () => {
    const { done, run, finish } = setUp();
    const [a, b, c] = [object("a"), object("b"), object("c")] as const;
    finish(c);
    for (const each of [a, b, c]) run(each);
    finish(b);
    await settled();
    expect(done).toEqual([]);
    finish(a);
    await settled();
    expect(done).toEqual(["/a", "/b", "/c"]);
    run(c);
    expect(done.at(-1)).toBe("/c");
  });

  it("end with the first that fails, which may have failed before its turn", async () => {
    const { done, run, finish, fail } = setUp();
    const [a, b, c] = [object("a"), object("b"), object("c")] as const;
    for (const each of [a, b, c]) run(each);
    fail(b);
    finish(c);
    await settled();
    finish(a);
    await settled();
    expect(done).toEqual(["/a", "Error: no form"]);
  });

  it("are not done after the end", async () => {
    const { done, run, finish, inTurn } = setUp();
    const a = object("a");
    run(a);
    inTurn.end();
    finish(a);
    await settled();
    expect(done).toEqual([]);
  });
});
