/** kubectl's ways to change what is there: patch, replace, edit, label, annotate, scale, set, rollout. */
import { describe, expect, it } from "vitest";
import { configMap, deployment } from "../support/manifests.ts";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";

const program = tool("kubectl");
const home = clusterForFile();
const kubectl = new CommandLine(program, home);
const value = (resource: string, path: string) => kubectl.ok("get", resource, "-o", `jsonpath=${path}`);

describe.skipIf(program === undefined)("kubectl patch", () => {
  it("strategic: lists are merged by their key", async () => {
    await kubectl.given(deployment("strategic", "nginx:1")).ok("create", "-f", "-");
    const sidecar = { spec: { template: { spec: { containers: [{ name: "side", image: "busybox:1" }] } } } };
    expect(await kubectl.ok("patch", "deploy", "strategic", "-p", JSON.stringify(sidecar))).toBe(
      "deployment.apps/strategic patched\n",
    );
    expect(await value("deploy/strategic", "{..containers[*].name}")).toBe("side web");
    expect(await kubectl.ok("patch", "deploy", "strategic", "-p", JSON.stringify(sidecar))).toBe(
      "deployment.apps/strategic patched (no change)\n",
    );
    const remove = { spec: { template: { spec: { containers: [{ name: "side", $patch: "delete" }] } } } };
    await kubectl.ok("patch", "deploy", "strategic", "-p", JSON.stringify(remove));
    expect(await value("deploy/strategic", "{..containers[*].name}")).toBe("web");
  });

  it("merge: null removes, the rest stays", async () => {
    await kubectl.given(configMap("merge", { a: "1", b: "2" })).ok("create", "-f", "-");
    await kubectl.ok("patch", "cm", "merge", "--type=merge", "-p", '{"data":{"a":null,"c":"3"}}');
    expect(await value("cm/merge", "{.data}")).toBe('{"b":"2","c":"3"}');
  });

  it("json: operations in order, all or none", async () => {
    await kubectl.given(configMap("json", { a: "1" })).ok("create", "-f", "-");
    const patch = (...operations: object[]) => ["patch", "cm", "json", "--type=json", "-p", JSON.stringify(operations)];
    await kubectl.ok(...patch({ op: "test", path: "/data/a", value: "1" }, { op: "add", path: "/data/b", value: "2" }));
    expect(
      await kubectl.fails(...patch({ op: "remove", path: "/data/a" }, { op: "remove", path: "/data/nothing" })),
    ).toBe("The request is invalid: the server rejected our request due to an error in our request\n");
    expect(await value("cm/json", "{.data}")).toBe('{"a":"1","b":"2"}');
  });

  it("of a subresource", async () => {
    await kubectl.given(deployment("parts", "nginx:1")).ok("create", "-f", "-");
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "parts" },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    await kubectl.given(pod).ok("create", "-f", "-");
    const patch = '{"status":{"message":"from the status"},"spec":{"activeDeadlineSeconds":9}}';
    expect(await kubectl.ok("patch", "pod", "parts", "--subresource=status", "--type=merge", "-p", patch)).toBe(
      "pod/parts patched\n",
    );
    expect(await value("pod/parts", "{.spec.activeDeadlineSeconds}{.status.message}")).toBe("from the status");
    expect(
      await kubectl.ok(
        "patch",
        "deploy",
        "parts",
        "--subresource=scale",
        "--type=merge",
        "-p",
        '{"spec":{"replicas":4}}',
      ),
    ).toBe("scale.autoscaling/parts patched\n");
    expect(await value("deploy/parts", "{.spec.replicas}")).toBe("4");
  });

  it("is refused where it breaks a rule", async () => {
    await kubectl.given(deployment("fixed", "nginx:1")).ok("create", "-f", "-");
    expect(
      await kubectl.fails("patch", "deploy", "fixed", "-p", '{"spec":{"selector":{"matchLabels":{"app":"other"}}}}'),
    ).toContain('The Deployment "fixed" is invalid: ');
    expect(await kubectl.fails("patch", "cm", "nobody", "-p", "{}")).toBe(
      'Error from server (NotFound): configmaps "nobody" not found\n',
    );
  });
});

describe.skipIf(program === undefined)("kubectl replace and edit", () => {
  it("replace puts one object in place of the other", async () => {
    await kubectl.given(configMap("replaced", { a: "1" })).ok("create", "-f", "-");
    expect(await kubectl.given(configMap("replaced", { b: "2" })).ok("replace", "-f", "-")).toBe(
      "configmap/replaced replaced\n",
    );
    expect(await value("cm/replaced", "{.data}")).toBe('{"b":"2"}');
  });

  it("replace fails on an object that has changed since, or is not there", async () => {
    await kubectl.given(configMap("raced", {})).ok("create", "-f", "-");
    const stale = (await kubectl.json("get", "cm", "raced")) as object;
    await kubectl.ok("label", "cm", "raced", "first=yes");
    expect(await kubectl.given(stale).fails("replace", "-f", "-")).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "raced": ' +
        "the object has been modified; please apply your changes to the latest version and try again\n",
    );
    expect(await kubectl.given(configMap("nobody", {})).fails("replace", "-f", "-")).toBe(
      'Error from server (NotFound): error when replacing "STDIN": configmaps "nobody" not found\n',
    );
  });

  it("replace --force deletes and creates", async () => {
    await kubectl.given(configMap("forced", {})).ok("create", "-f", "-");
    const before = await value("cm/forced", "{.metadata.uid}");
    expect(await kubectl.given(configMap("forced", {})).ok("replace", "--force", "-f", "-")).toBe(
      'configmap "forced" deleted from default namespace\nconfigmap/forced replaced\n',
    );
    expect(await value("cm/forced", "{.metadata.uid}")).not.toBe(before);
  });

  it("edit sends what the editor has changed", async () => {
    await kubectl.given(deployment("edited", "nginx:1")).ok("create", "-f", "-");
    const editor = (script: string) => kubectl.env({ EDITOR: `sed -i ${script}` });
    expect(await editor("s/nginx:1/nginx:2/").ok("edit", "deployment", "edited")).toBe(
      "deployment.apps/edited edited\n",
    );
    expect(await value("deploy/edited", "{..image}")).toBe("nginx:2");
    const unchanged = await editor("s/nothing/else/").run("edit", "deployment", "edited");
    expect(unchanged).toMatchObject({ code: 0, stderr: expect.stringContaining("Edit cancelled, no changes made.") });
  });
});

describe.skipIf(program === undefined)("kubectl label and annotate", () => {
  it("set, keep, overwrite and remove", async () => {
    await kubectl.ok("create", "cm", "marked");
    expect(await kubectl.ok("label", "cm", "marked", "a=1", "b=2")).toBe("configmap/marked labeled\n");
    expect(await kubectl.ok("label", "cm", "marked", "a=1")).toBe("configmap/marked not labeled\n");
    expect(await kubectl.fails("label", "cm", "marked", "a=9")).toBe(
      "error: 'a' already has a value (1), and --overwrite is false\n",
    );
    await kubectl.ok("label", "cm", "marked", "a=9", "--overwrite");
    expect(await kubectl.ok("label", "cm", "marked", "b-")).toBe("configmap/marked unlabeled\n");
    expect(await value("cm/marked", "{.metadata.labels}")).toBe('{"a":"9"}');

    expect(await kubectl.ok("annotate", "cm", "-l", "a=9", "note=hello world")).toBe("configmap/marked annotated\n");
    expect(await value("cm/marked", "{.metadata.annotations}")).toBe('{"note":"hello world"}');
  });

  it("are refused what is no label", async () => {
    await kubectl.ok("create", "cm", "unmarked");
    expect(await kubectl.fails("label", "cm", "unmarked", `a=${"x".repeat(64)}`)).toContain(
      "must be no more than 63 bytes",
    );
  });
});

describe.skipIf(program === undefined)("kubectl scale, set and rollout", () => {
  it("scale changes the number of replicas, if it was what was expected", async () => {
    await kubectl.given(deployment("scaled", "nginx:1")).ok("create", "-f", "-");
    expect(await kubectl.ok("scale", "deploy/scaled", "--replicas=5")).toBe("deployment.apps/scaled scaled\n");
    expect(await kubectl.fails("scale", "deploy/scaled", "--replicas=6", "--current-replicas=1")).toBe(
      "error: Expected replicas to be 1, was 5\n",
    );
    expect(await value("deploy/scaled", "{.spec.replicas} {.metadata.generation}")).toBe("5 2");
  });

  const sets: { command: string; says: string; path: string; want: string }[] = [
    { command: "set image deploy/set web=nginx:9", says: "image updated", path: "{..image}", want: "nginx:9" },
    {
      command: "set env deploy/set MODE=fast",
      says: "env updated",
      path: "{..env}",
      want: '[{"name":"MODE","value":"fast"}]',
    },
    {
      command: "set resources deploy/set --limits=cpu=500m --requests=cpu=250m",
      says: "resource requirements updated",
      path: "{..containers[0].resources}",
      want: '{"limits":{"cpu":"500m"},"requests":{"cpu":"250m"}}',
    },
    {
      command: "set serviceaccount deploy/set robot",
      says: "serviceaccount updated",
      path: "{..serviceAccountName}",
      want: "robot",
    },
    { command: "rollout pause deploy/set", says: "paused", path: "{.spec.paused}", want: "true" },
    { command: "rollout resume deploy/set", says: "resumed", path: "{.spec.paused}", want: "" },
  ];
  it("set and rollout change one part each", async () => {
    await kubectl.given(deployment("set", "nginx:1")).ok("create", "-f", "-");
    for (const { command, says, path, want } of sets) {
      expect(await kubectl.ok(...command.split(" "))).toBe(`deployment.apps/set ${says}\n`);
      expect([command, await value("deploy/set", path)]).toEqual([command, want]);
    }
  });

  it("rollout restart marks the template", async () => {
    await kubectl.given(deployment("restarted", "nginx:1")).ok("create", "-f", "-");
    expect(await kubectl.ok("rollout", "restart", "deploy/restarted")).toBe("deployment.apps/restarted restarted\n");
    expect(await value("deploy/restarted", "{.spec.template.metadata.annotations}")).toMatch(
      /^\{"kubectl\.kubernetes\.io\/restartedAt":"20/,
    );
  });
});
