import { execFile } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { realClock, VirtualClock } from "#base";
import { PkiError } from "./errors.ts";
import { kubeconfigFor } from "./kubeconfig.ts";
import { mergeKubeconfig, removeFromKubeconfig } from "./kubeconfig-merge.ts";

const run = promisify(execFile);
const kubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);

const clock = realClock();
const config = kubeconfigFor({
  name: "k8ts",
  server: "https://127.0.0.1:6443",
  caPem: "CA",
  client: { token: "secret" },
});

const added = {
  cluster: "- cluster:\n    server: https://127.0.0.1:6443\n    certificate-authority-data: Q0E=\n  name: k8ts\n",
  user: "- user:\n    token: secret\n  name: k8ts\n",
  context: "- context:\n    cluster: k8ts\n    user: k8ts\n  name: k8ts\n",
};

const complete = `apiVersion: v1
kind: Config
clusters:
${added.cluster}users:
${added.user}contexts:
${added.context}current-context: k8ts
`;

const work = `# my clusters
apiVersion: v1
clusters:
- cluster:
    certificate-authority: /etc/work/ca.crt # kept by IT
    server: https://work.example
    x-note: unknown
  name: work
contexts:
- context: { cluster: work, user: me }
  name: work
current-context: work
kind: Config
preferences: {}
users:
# do not touch
- name: me
  user:
    exec:
      command: login
`;

const workAndOurs = work
  .replace("  name: work\ncontexts:", `  name: work\n${added.cluster}contexts:`)
  .replace("  name: work\ncurrent-context: work", `  name: work\n${added.context}current-context: k8ts`)
  .concat(added.user);

async function home(text?: string) {
  const temporary = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
  const file = join(temporary.path, "config");
  if (text !== undefined) await writeFile(file, text, { mode: 0o600 });
  return {
    file,
    path: temporary.path,
    text: () => readFile(file, "utf8"),
    [Symbol.asyncDispose]: () => temporary.remove(),
  };
}

describe("merging", () => {
  it.each([
    { name: "no file", given: undefined, want: complete },
    { name: "an empty file", given: "", want: complete },
    { name: "comments alone", given: "# mine\n", want: `# mine\n\n${complete}` },
    { name: "an empty object", given: "{}\n", want: complete.replace("apiVersion: v1\nkind: Config\n", "") },
    {
      name: "what `kubectl config unset` leaves",
      given: 'apiVersion: v1\nclusters: null\ncontexts: []\ncurrent-context: ""\nkind: Config\nusers: null\n',
      want: `apiVersion: v1\nclusters:\n${added.cluster}contexts:\n${added.context}current-context: "k8ts"\nkind: Config\nusers:\n${added.user}`,
    },
    { name: "other contexts, comments, unknown fields", given: work, want: workAndOurs },
    { name: "ours, as it is", given: workAndOurs, want: workAndOurs },
    {
      name: "ours, out of date",
      given: complete.replace("6443", "1111").replace("Q0E=", "b2xk").replace("token: secret", "client-key: /old"),
      want: complete,
    },
    {
      name: "ours, with a namespace and a comment",
      given: complete.replace("    user: k8ts\n  name: k8ts", "    user: old\n    namespace: web # mine\n  name: k8ts"),
      want: complete.replace("    user: k8ts\n  name: k8ts", "    user: k8ts\n    namespace: web # mine\n  name: k8ts"),
    },
    { name: "ours, twice", given: complete.replace(added.user, added.user + added.user), want: complete },
  ])("into $name", async ({ given, want }) => {
    await using dir = await home(given);
    await mergeKubeconfig(dir.file, config, { clock });
    expect(await dir.text()).toBe(want);
  });

  it("keeps a file's own indentation", async () => {
    await using dir = await home("clusters:\n  - name: a\n    cluster:\n      server: https://a\n");
    await mergeKubeconfig(dir.file, config, { clock });
    expect(await dir.text()).toContain(
      "clusters:\n  - name: a\n    cluster:\n      server: https://a\n  - cluster:\n      server",
    );
  });

  it("works in a file that is JSON", async () => {
    const given = { apiVersion: "v1", kind: "Config", clusters: [{ name: "a", cluster: { server: "https://a" } }] };
    await using dir = await home(JSON.stringify(given));
    await mergeKubeconfig(dir.file, config, { clock });
    const { clusters, ...rest } = config;
    expect(parse(await dir.text())).toEqual({ ...given, ...rest, clusters: [...given.clusters, ...clusters] });
  });

  it("leaves the current context if told so", async () => {
    await using dir = await home(work);
    await mergeKubeconfig(dir.file, config, { clock, setCurrent: false });
    expect(await dir.text()).toBe(workAndOurs.replace("current-context: k8ts", "current-context: work"));
  });

  it("makes folder and file for their owner alone, and removes its lock", async () => {
    await using dir = await home();
    const file = join(dir.path, ".kube", "config");
    await mergeKubeconfig(file, config, { clock });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir.path, ".kube"))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(dir.path, ".kube"))).toEqual(["config"]);
  });

  it("keeps the mode of a file, and a link", async () => {
    await using dir = await home(work);
    await chmod(dir.file, 0o640);
    const link = join(dir.path, "link");
    await symlink(dir.file, link);
    await mergeKubeconfig(link, config, { clock });
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await dir.text()).toBe(workAndOurs);
    expect((await stat(dir.file)).mode & 0o777).toBe(0o640);
  });

  it.skipIf(process.getuid?.() !== 0)("keeps the owner of a file when root changes it", async () => {
    await using dir = await home(work);
    await chown(dir.file, 1234, 5678);
    await mergeKubeconfig(dir.file, config, { clock });
    const { uid, gid } = await stat(dir.file);
    expect({ uid, gid }).toEqual({ uid: 1234, gid: 5678 });
  });

  it("does not write a file that is right already", async () => {
    await using dir = await home(workAndOurs);
    const before = await stat(dir.file);
    await mergeKubeconfig(dir.file, config, { clock });
    expect((await stat(dir.file)).ino).toBe(before.ino);
  });

  it("loses nothing when several merge at once", async () => {
    await using dir = await home(work);
    const names = ["a", "b", "c", "d", "e"];
    const patient = { ...clock, monotonic: () => 0 };
    const named = (name: string) => ({ name, server: `https://${name}`, caPem: "CA", client: { token: name } });
    await Promise.all(names.map((name) => mergeKubeconfig(dir.file, kubeconfigFor(named(name)), { clock: patient })));
    const clusters: { name: string }[] = parse(await dir.text()).clusters;
    expect(clusters.map(({ name }) => name).sort()).toEqual([...names, "work"]);
  });
});

describe("what is no kubeconfig", () => {
  it.each([
    { name: "broken YAML", given: "apiVersion: v1\nclusters: [\n", want: /:3 is not valid YAML: / },
    { name: "a key twice", given: "kind: Config\nkind: Config\n", want: /:2 is not valid YAML: / },
    { name: "two documents", given: "kind: Config\n---\nkind: Config\n", want: /:2 is not valid YAML: / },
    { name: "plain text", given: "\nhello\n", want: /:2 is not a kubeconfig: the file must hold fields/ },
    { name: "a list", given: "- a\n", want: /:1 is not a kubeconfig: the file must hold fields/ },
    {
      name: "another kind",
      given: "apiVersion: v1\nkind: Pod\n",
      want: /:2 is not a kubeconfig: "kind" must be Config/,
    },
    { name: "another version", given: "apiVersion: v2\n", want: /:1 is not a kubeconfig: "apiVersion" must be v1/ },
    {
      name: "clusters that are no list",
      given: "clusters:\n  a: b\n",
      want: /:2 is not a kubeconfig: "clusters" must be a list/,
    },
    { name: "an entry that is a word", given: "users:\n- me\n", want: /:2 is not a kubeconfig: an entry of "users"/ },
    {
      name: "an entry without name",
      given: "users:\n- user: {}\n",
      want: /:2 .* the name of an entry of "users" must be a string/,
    },
    { name: "a name that is a number", given: "contexts:\n- context: {}\n  name: 5\n", want: /:3 .* must be a string/ },
    {
      name: "a cluster that is a word",
      given: "clusters:\n- name: a\n  cluster: b\n",
      want: /:3 .* "cluster" must hold fields/,
    },
    {
      name: "a server that is a number",
      given: "clusters:\n- name: a\n  cluster: { server: 1 }\n",
      want: /:3 .* "server" must be a string/,
    },
    {
      name: "a current context that is a list",
      given: "kind: Config\ncurrent-context: []\n",
      want: /:2 .* "current-context" must be a string/,
    },
  ])("$name is refused and left as it is", async ({ given, want }) => {
    await using dir = await home(given);
    const merge = () => mergeKubeconfig(dir.file, config, { clock });
    const remove = () => removeFromKubeconfig(dir.file, "k8ts", { clock });
    for (const act of [merge, remove]) {
      const error = await act().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(PkiError);
      expect(String(error)).toMatch(want);
      expect(String(error)).toContain(dir.file);
      expect(String(error)).not.toContain("\n");
    }
    expect(await dir.text()).toBe(given);
    expect(await readdir(dir.path)).toEqual(["config"]);
  });

  it("an entry of ours that others refer to is not torn away", async () => {
    const given = "users:\n- name: k8ts\n  user: &me\n    token: a\n- name: b\n  user: *me\n";
    await using dir = await home(given);
    await expect(mergeKubeconfig(dir.file, config, { clock })).rejects.toThrow("refers by an alias");
    expect(await dir.text()).toBe(given);
  });

  it("a folder in its place is an error", async () => {
    await using dir = await home();
    await mkdir(dir.file);
    await expect(mergeKubeconfig(dir.file, config, { clock })).rejects.toThrow(
      `Cannot read ${dir.file}: it is a folder.`,
    );
  });
});

describe("removing", () => {
  it.each([
    { name: "what was merged", given: workAndOurs, want: work.replace("current-context: work", 'current-context: ""') },
    {
      name: "ours, while another context is current",
      given: workAndOurs.replace("current-context: k8ts", "current-context: work"),
      want: work,
    },
    { name: "nothing of ours", given: work, want: work },
    {
      name: "everything there is",
      given: complete,
      want: 'apiVersion: v1\nkind: Config\nclusters: []\nusers: []\ncontexts: []\ncurrent-context: ""\n',
    },
    { name: "an empty file", given: "", want: "" },
    { name: "nothing from a file of odd spacing", given: "kind:   Config\n", want: "kind:   Config\n" },
  ])("$name", async ({ given, want }) => {
    await using dir = await home(given);
    await removeFromKubeconfig(dir.file, "k8ts", { clock });
    expect(await dir.text()).toBe(want);
    expect(await readdir(dir.path)).toEqual(["config"]);
  });

  const contexts = async (file: string) => {
    const { contexts, "current-context": current } = parse(await readFile(file, "utf8"));
    return { names: contexts.map(({ name }: { name: string }) => name), current };
  };
  const merge = (file: string, name: string) =>
    mergeKubeconfig(
      file,
      { ...kubeconfigFor({ name, server: `https://${name}`, caPem: "CA", client: { token: "t" } }) },
      {
        clock,
        owner: `/data/${name}`,
      },
    );

  it("returns to the context that was the current one before, also when one between them goes first", async () => {
    await using dir = await home(work);
    await merge(dir.file, "a");
    await merge(dir.file, "b");
    await merge(dir.file, "b");
    expect(await contexts(dir.file)).toEqual({ names: ["work", "a", "b"], current: "b" });
    await removeFromKubeconfig(dir.file, "a", { clock });
    expect(await contexts(dir.file)).toEqual({ names: ["work", "b"], current: "b" });
    await removeFromKubeconfig(dir.file, "b", { clock });
    expect(await dir.text()).toBe(work);
  });

  it("returns to none if the context before is gone", async () => {
    await using dir = await home(work);
    await merge(dir.file, "a");
    await removeFromKubeconfig(dir.file, "work", { clock });
    await removeFromKubeconfig(dir.file, "a", { clock });
    expect(await contexts(dir.file)).toEqual({ names: [], current: "" });
  });

  it("does nothing where there is no file, not even a folder", async () => {
    await using dir = await home();
    await removeFromKubeconfig(join(dir.path, ".kube", "config"), "k8ts", { clock });
    expect(await readdir(dir.path)).toEqual([]);
  });
});

describe("the lock", () => {
  it("names its process, and one of a process that is gone is taken over", async () => {
    await using dir = await home(work);
    const child = execFile(process.execPath, ["-e", ""]);
    await once(child, "exit");
    const names = [`k8ts ${child.pid} boot 1\n`, `k8ts ${process.pid} another boot 1\n`];
    for (const text of names) {
      await writeFile(`${dir.file}.lock`, text);
      await mergeKubeconfig(dir.file, config, { clock: new VirtualClock() });
      expect(await readdir(dir.path)).toEqual(["config"]);
    }
    expect(await dir.text()).toBe(workAndOurs);
  });

  it("is waited for", async () => {
    await using dir = await home(work);
    const virtual = new VirtualClock();
    await writeFile(`${dir.file}.lock`, "");
    const merging = mergeKubeconfig(dir.file, config, { clock: virtual });
    await expect.poll(() => virtual.pending).toBe(1);
    expect(await dir.text()).toBe(work);
    await rm(`${dir.file}.lock`);
    await virtual.advance(1000);
    await merging;
    expect(await dir.text()).toBe(workAndOurs);
  });

  it("that stays is an error that says what to do, and is left", async () => {
    await using dir = await home(work);
    const virtual = new VirtualClock();
    await writeFile(`${dir.file}.lock`, "");
    const merging = expect(mergeKubeconfig(dir.file, config, { clock: virtual })).rejects.toThrow(
      new PkiError(
        `${dir.file} is locked: if no kubectl is changing it now, ${dir.file}.lock was left behind and can be removed.`,
      ),
    );
    await expect.poll(() => virtual.pending).toBe(1);
    await virtual.advance(10_000);
    await merging;
    expect(virtual.pending).toBe(0);
    expect(await dir.text()).toBe(work);
    expect((await readdir(dir.path)).sort()).toEqual(["config", "config.lock"]);
  });
});

describe.skipIf(!kubectl)("kubectl", () => {
  const view = async (file: string, ...args: string[]) =>
    JSON.parse((await run("kubectl", ["config", "view", "--raw", "-o", "json", "--kubeconfig", file, ...args])).stdout);

  it.each([
    { name: "a new file", given: undefined },
    { name: "a merged file", given: work },
    { name: "a merged file that is JSON", given: JSON.stringify(parse(work)) },
  ])("reads $name", async ({ given }) => {
    await using dir = await home(given);
    await mergeKubeconfig(dir.file, config, { clock });
    const seen = await view(dir.file, "--minify");
    expect(seen["current-context"]).toBe("k8ts");
    expect(seen.clusters).toEqual([{ name: "k8ts", cluster: { ...config.clusters[0]?.cluster } }]);
    expect(seen.users).toEqual([{ name: "k8ts", user: { token: "secret" } }]);
    const all: { name: string }[] = (await view(dir.file)).contexts;
    expect(all.map(({ name }) => name)).toEqual(given === undefined ? ["k8ts"] : ["k8ts", "work"]);
  });

  it("reads the file after removal, and writes one that can be merged into", async () => {
    await using dir = await home();
    const set = ["config", "--kubeconfig", dir.file, "set-cluster", "other", "--server=https://other"];
    await run("kubectl", set);
    const before = await dir.text();
    await mergeKubeconfig(dir.file, config, { clock });
    await removeFromKubeconfig(dir.file, "k8ts", { clock });
    expect(parse(await dir.text())).toMatchObject({ clusters: parse(before).clusters, "current-context": "" });
    expect((await view(dir.file)).clusters).toHaveLength(1);
  });

  it("uses the same lock", async () => {
    await using dir = await home(work);
    await writeFile(`${dir.file}.lock`, "");
    const setting = run("kubectl", ["config", "--kubeconfig", dir.file, "set-cluster", "a", "--server=https://a"]);
    await expect(setting).rejects.toThrow(/config\.lock/);
  });
});
