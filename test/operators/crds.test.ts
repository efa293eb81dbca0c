/**
 * The custom resources of well-known projects, as kubectl sees them: definitions are accepted and explained, objects
 * validated.
 */
import { describe, expect, it } from "vitest";
import { CommandLine, clusterForFile, tool } from "../support/tools.ts";
import { type Bad, type Project, projects, type Sample } from "./projects.ts";
import { type Definition, definitionsOf, isFetched } from "./support/definitions.ts";

const program = tool("kubectl");
const kubectl = new CommandLine(program, clusterForFile());

for (const project of projects) {
  const { title, release, folder } = project;
  const missing = program === undefined ? "kubectl" : isFetched(folder) ? undefined : "its schemas";
  const name = `${title} ${release}${missing === undefined ? "" : `, skipped without ${missing}`}`;
  describe.skipIf(missing !== undefined)(name, () => tried(project));
}

function tried(project: Project): void {
  const { definitions: count, explained, samples } = project;

  it(`${count} definitions are accepted and established`, async () => {
    const definitions = definitionsOf(project.folder, project);
    const names = definitions.map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(count);
    const applied = await kubectl.given(...definitions).ok("apply", "--server-side", "-f", "-");
    expect(applied.match(/ serverside-applied$/gm)).toHaveLength(count);
    await kubectl.ok("wait", "--for=condition=Established", "--timeout=30s", ...names.map((name) => `crd/${name}`));
    // The schema is structural, and no other has taken the names.
    expect(
      await kubectl.ok("get", "crd", ...names, "-o", "jsonpath={.items[*].status.conditions[*].type}"),
    ).not.toContain("NonStructuralSchema");
    const served = await kubectl.ok("api-resources", "--no-headers", "--cached=false", "-o", "name");
    expect(served.split("\n")).toEqual(expect.arrayContaining(names));
  });

  it(`explains ${explained.field}`, async () => {
    const text = await kubectl.ok("explain", explained.field);
    for (const line of explained.says) expect(text).toContain(line);
    // The project's own words.
    expect(text).toMatch(/DESCRIPTION:\n {4}\S/);
  });

  for (const sample of samples) {
    const { apiVersion, kind, spec, defaulted = {}, status, bad } = sample;

    it(`accepts a good ${kind}, and gives it back in every version`, async () => {
      const { resource, versions } = resourceOf(project, sample);
      const [plural, ...group] = resource.split(".");
      await kubectl.given(objectOf(sample)).ok("apply", "-f", "-");
      const stored = await kubectl.json("get", resource, "good");
      expect(stored).toMatchObject({ apiVersion, kind, spec });
      expect(stored).toMatchObject({ spec: defaulted, ...(status && { status }) });
      for (const version of versions) {
        const other = await kubectl.json("get", `${plural}.${version}.${group.join(".")}`, "good");
        expect(other).toMatchObject({ apiVersion: `${group.join(".")}/${version}`, kind });
      }
      // Where lists have defaults, kubectl sends them anew each time; the first time may keep a status that the schema
      // gives.
      const again = async () => {
        await kubectl.given(objectOf(sample)).ok("apply", "-f", "-");
        return kubectl.json("get", resource, "good");
      };
      expect(await again()).toEqual(await again());
      await kubectl.ok("delete", resource, "good");
    });

    for (const { why, says, ...other } of bad) {
      it(`refuses a bad ${kind}: ${why}`, async () => {
        const said = await kubectl.given(objectOf(sample, other)).fails("create", "-f", "-");
        expect(said).toContain(`The ${kind} "bad" is invalid:`);
        expect(said).toContain(says);
      });
    }

    it(`tells of a field that ${kind} does not have`, async () => {
      const odd = { ...objectOf(sample), surprise: 1 };
      expect(await kubectl.given(odd).fails("create", "-f", "-")).toContain('unknown field "surprise"');
    });
  }
}

const large = projects.find(({ folder }) => folder === "prometheus-operator");
describe.skipIf(program === undefined || large === undefined || !isFetched(large.folder))("a large definition", () => {
  it("is too big for kubectl to remember in an annotation, and is told so", async () => {
    const mine = ({ spec }: Definition) => spec.names.kind === "Prometheus";
    const definitions = definitionsOf(large?.folder ?? "", {}).filter(mine);
    // Under another name: the other tests' is there.
    const other = definitions.map(({ spec, ...rest }) => ({
      ...rest,
      metadata: { name: "prometheuses.large.example.com" },
      spec: { ...spec, group: "large.example.com" },
    }));
    expect(await kubectl.given(...other).fails("apply", "-f", "-")).toContain(
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    );
    expect(await kubectl.given(...other).ok("create", "-f", "-")).toContain("created");
  });
});

const guarded = projects.find(({ folder }) => folder === "gateway-api");
describe.skipIf(program === undefined || guarded === undefined || !isFetched(guarded.folder))(
  "a group of Kubernetes",
  () => {
    it("needs an approval", async () => {
      const [first] = definitionsOf(guarded?.folder ?? "", {});
      if (first === undefined) throw new Error("the project defines nothing");
      const { plural } = first.spec.names;
      const group = "unapproved.k8s.io";
      const other = { ...first, metadata: { name: `${plural}.${group}` }, spec: { ...first.spec, group } };
      expect(await kubectl.given(other).fails("create", "-f", "-")).toContain(
        "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation",
      );
    });
  },
);

function objectOf({ apiVersion, kind, spec }: Sample, bad?: Pick<Bad, "spec">): object {
  return { apiVersion, kind, metadata: { name: bad === undefined ? "good" : "bad" }, spec: { ...spec, ...bad?.spec } };
}

function resourceOf(project: Project, { apiVersion, kind }: Sample): { resource: string; versions: readonly string[] } {
  const mine = ({ spec }: Definition) => spec.names.kind === kind && apiVersion.startsWith(`${spec.group}/`);
  const definition = definitionsOf(project.folder, project).find(mine);
  if (definition === undefined) throw new Error(`${project.title} defines no ${kind}`);
  return { resource: definition.metadata.name, versions: definition.spec.versions.map(({ name }) => name) };
}
