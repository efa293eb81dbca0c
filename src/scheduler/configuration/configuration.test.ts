import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ConfigurationError, DEFAULT_ARGUMENTS, type PluginFactory } from "../framework/index.ts";
import { configz, DEFAULT_PLUGINS, defaultConfiguration, readConfiguration } from "./index.ts";

const HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
const factory = (name: string): PluginFactory => ({ name, make: () => ({ name }) });
const factories = [...DEFAULT_PLUGINS.map(({ name }) => factory(name)), factory("Custom")];
const readFile = (path: string): string => {
  if (path === "/ca.pem") return "PEM";
  return readFileSync(path, "utf8");
};
const read = (body: string, head = HEAD) => readConfiguration(head + body, { factories, readFile });
const plugins = (body: string) => read(body).scheduler.profiles[0]?.plugins;
const names = (uses: readonly { readonly name: string }[] | undefined) => (uses ?? []).map(({ name }) => name);

const FILTERS = [
  "NodeUnschedulable",
  "NodeName",
  "TaintToleration",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "VolumeRestrictions",
  "NodeVolumeLimits",
  "VolumeBinding",
  "VolumeZone",
  "PodTopologySpread",
  "InterPodAffinity",
  "DynamicResources",
  "NodeDeclaredFeatures",
];

describe("defaults", () => {
  it("are those of a file that says nothing", () => {
    const { scheduler, leaderElection, clientConnection, warnings } = read("");
    expect(scheduler).toEqual(defaultConfiguration(factories));
    expect(warnings).toEqual([]);
    expect(leaderElection).toEqual({
      leaderElect: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      resourceName: "kube-scheduler",
      resourceNamespace: "kube-system",
    });
    expect(clientConnection).toEqual({ qps: 50, burst: 100 });
    expect(scheduler).toMatchObject({ podInitialBackoffSeconds: 1, podMaxBackoffSeconds: 10, extenders: [] });
  });

  it("name the plugins in their order, with their weights", () => {
    const [profile] = defaultConfiguration(factories).profiles;
    expect(profile?.schedulerName).toBe("default-scheduler");
    expect(profile?.args).toEqual(DEFAULT_ARGUMENTS);
    expect(names(profile?.plugins.filter)).toEqual(FILTERS);
    expect(profile?.plugins.score).toEqual([
      { name: "TaintToleration", weight: 3 },
      { name: "NodeAffinity", weight: 2 },
      { name: "NodeResourcesFit", weight: 1 },
      { name: "VolumeBinding", weight: 1 },
      { name: "PodTopologySpread", weight: 2 },
      { name: "InterPodAffinity", weight: 2 },
      { name: "DynamicResources", weight: 1 },
      { name: "NodeResourcesBalancedAllocation", weight: 1 },
      { name: "ImageLocality", weight: 1 },
    ]);
    expect(names(profile?.plugins.queueSort)).toEqual(["PrioritySort"]);
    expect(names(profile?.plugins.bind)).toEqual(["DefaultBinder"]);
  });
});

describe("plugins", () => {
  const profile = (text: string) => `profiles:\n- plugins:\n${text.replace(/^/gm, "    ")}`;

  it("can be turned off at one point, or at all", () => {
    const found = plugins(
      profile(`score:
  disabled: [{name: "*"}]
  enabled: [{name: NodeResourcesFit, weight: 5}]
filter:
  disabled: [{name: NodePorts}]
multiPoint:
  disabled: [{name: ImageLocality}, {name: VolumeZone}]`),
    );
    expect(found?.score).toEqual([{ name: "NodeResourcesFit", weight: 5 }]);
    expect(names(found?.filter)).toEqual(FILTERS.filter((name) => name !== "NodePorts" && name !== "VolumeZone"));
    expect(names(found?.preFilter)).toContain("NodePorts");
  });

  it("named at a point go first there, with the weight that they are given", () => {
    const found = plugins(
      profile(`score:
  enabled: [{name: ImageLocality, weight: 7}, {name: NodeAffinity, weight: 9}, {name: Custom, weight: 3}]`),
    );
    expect(found?.score.slice(0, 3)).toEqual([
      { name: "ImageLocality", weight: 7 },
      { name: "NodeAffinity", weight: 9 },
      { name: "TaintToleration", weight: 3 },
    ]);
    expect(found?.score.at(-1)).toEqual({ name: "Custom", weight: 3 });
  });

  it("take part everywhere through multiPoint; one of the defaults keeps its place", () => {
    const found = plugins(profile(`multiPoint:\n  enabled: [{name: Custom}, {name: TaintToleration, weight: 8}]`));
    expect(found?.score[0]).toEqual({ name: "TaintToleration", weight: 8 });
    expect(names(found?.reserve)).toEqual(["VolumeBinding", "DynamicResources", "Custom"]);
    expect(names(found?.queueSort)).toEqual(["PrioritySort"]);
  });

  const CREATING = "creating profile for scheduler name default-scheduler: ";
  const faults = [
    {
      name: "one that does not exist",
      text: "filter:\n  enabled: [{name: Nonsense}]",
      want: `${CREATING}FilterPlugin "Nonsense" does not exist`,
    },
    {
      name: "one that does not exist, at every point",
      text: "multiPoint:\n  enabled: [{name: Nonsense}]",
      want: `${CREATING}PreFilterPlugin "Nonsense" does not exist`,
    },
    {
      name: "one that has nothing to say there",
      text: "score:\n  enabled: [{name: NodeName}]",
      want: `${CREATING}plugin "NodeName" does not extend ScorePlugin plugin`,
    },
    {
      name: "twice",
      text: "score:\n  enabled: [{name: ImageLocality}, {name: ImageLocality}]",
      want: `${CREATING}plugin "ImageLocality" already registered as "ScorePlugin"`,
    },
    {
      name: "nobody binds",
      text: "bind:\n  disabled: [{name: DefaultBinder}]",
      want: `${CREATING}at least one bind plugin is needed for profile with scheduler name "default-scheduler"`,
    },
    {
      name: "nobody sorts",
      text: 'queueSort:\n  disabled: [{name: "*"}]',
      want: `${CREATING}only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0`,
    },
  ];
  it.each(faults)("refused: $name", ({ text, want }) => {
    expect(() => read(profile(text))).toThrow(new ConfigurationError(want));
  });
});

describe("arguments", () => {
  const config = (plugin: string, args: string) =>
    `profiles:\n- pluginConfig:\n  - name: ${plugin}\n    args: ${args}\n`;
  const argsOf = (text: string) => read(text).scheduler.profiles[0]?.args;

  it("are filled up with what is usual", () => {
    expect(argsOf(config("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated}}"))?.NodeResourcesFit).toEqual({
      ignoredResources: [],
      ignoredResourceGroups: [],
      scoringStrategy: {
        type: "MostAllocated",
        resources: [
          { name: "cpu", weight: 1 },
          { name: "memory", weight: 1 },
        ],
      },
    });
    expect(argsOf(config("InterPodAffinity", "{hardPodAffinityWeight: 0}"))?.InterPodAffinity).toEqual({
      hardPodAffinityWeight: 0,
      ignorePreferredTermsOfExistingPods: false,
    });
    expect(argsOf(config("VolumeBinding", "{bindTimeoutSeconds: 30}"))?.VolumeBinding.bindTimeoutSeconds).toBe(30);
    const typed =
      "{apiVersion: kubescheduler.config.k8s.io/v1, kind: DefaultPreemptionArgs, minCandidateNodesAbsolute: 5}";
    expect(argsOf(config("DefaultPreemption", typed))?.DefaultPreemption).toEqual({
      minCandidateNodesPercentage: 10,
      minCandidateNodesAbsolute: 5,
    });
  });

  const at = "profiles[0].pluginConfig[0].args";
  const faults = [
    {
      of: "DefaultPreemption",
      args: "{minCandidateNodesPercentage: 101}",
      want: `${at}.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]`,
    },
    {
      of: "DefaultPreemption",
      args: "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
      want: `[${at}.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, ${at}.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]`,
    },
    {
      of: "InterPodAffinity",
      args: "{hardPodAffinityWeight: 101}",
      want: `${at}.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]`,
    },
    {
      of: "NodeResourcesFit",
      args: "{scoringStrategy: {type: Best}}",
      want: `${at}.scoringStrategy.type: Unsupported value: "Best": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
    },
    {
      of: "NodeResourcesFit",
      args: "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 200}]}}",
      want: `${at}.scoringStrategy.resources[0].weight: Invalid value: 200: resource weight of cpu not in valid range (0, 100]`,
    },
    {
      of: "NodeResourcesFit",
      args: "{scoringStrategy: {type: RequestedToCapacityRatio}}",
      want: `${at}.scoringStrategy.shape: Required value: at least one point must be specified`,
    },
    {
      of: "NodeResourcesFit",
      args: "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 50, score: 11}, {utilization: 20, score: 1}]}}}",
      want: `[${at}.scoringStrategy.shape[1].utilization: Invalid value: 20: values must be sorted in increasing order, ${at}.scoringStrategy.shape[0].score: Invalid value: 11: not in valid range [0, 10]]`,
    },
    {
      of: "NodeResourcesFit",
      args: "{ignoredResourceGroups: [a/b]}",
      want: `${at}.ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can't contain '/'`,
    },
    {
      of: "NodeResourcesBalancedAllocation",
      args: "{resources: [{name: cpu, weight: 2}]}",
      want: `${at}.resources[0].weight: Invalid value: 2: must be 1`,
    },
    {
      of: "PodTopologySpread",
      args: "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}",
      want: `${at}.defaultingType: Invalid value: "System": when .defaultConstraints are not empty`,
    },
    {
      of: "PodTopologySpread",
      args: "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: Never, labelSelector: {}}]}",
      want: `[${at}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), ${at}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway", ${at}.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod]`,
    },
    {
      of: "NodeAffinity",
      args: "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Near}]}]}}}",
      want: `${at}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`,
    },
    {
      of: "NodeAffinity",
      args: "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In}]}]}}}",
      want: `${at}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty`,
    },
    {
      of: "VolumeBinding",
      args: "{bindTimeoutSeconds: -1}",
      want: `${at}.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value`,
    },
    { of: "NodeName", args: "{a: 1}", want: `${at}: Forbidden: NodeName takes no arguments` },
    { of: "Nonsense", args: "{a: 1}", want: `profiles[0].pluginConfig[0].name: Not found: "Nonsense"` },
    {
      of: "NodeResourcesFit",
      args: "{colour: red}",
      want: `decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeResourcesFit: strict decoding error: unknown field "colour"`,
    },
    {
      of: "NodeResourcesFit",
      args: "{apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeAffinityArgs}",
      want: "decoding .profiles[0].pluginConfig[0]: args for plugin NodeResourcesFit were not of type NodeResourcesFitArgs.kubescheduler.config.k8s.io, got NodeAffinityArgs.kubescheduler.config.k8s.io",
    },
    {
      of: "InterPodAffinity",
      args: "{hardPodAffinityWeight: much}",
      want: "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: json: cannot unmarshal string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type int32",
    },
  ];
  it.each(faults)("refused: $of $args", ({ of, args, want }) => {
    expect(() => read(config(of, args))).toThrow(new ConfigurationError(want));
  });
});

describe("the whole file", () => {
  const faults = [
    {
      name: "unknown fields",
      body: "podMaxBackof: 3\nprofiles: [{name: x}]",
      want: 'strict decoding error: unknown field "podMaxBackof", unknown field "profiles[0].name"',
    },
    {
      name: "not a number",
      body: "parallelism: many",
      want: "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32",
    },
    {
      name: "a key twice",
      body: "parallelism: 1\nparallelism: 2",
      want: 'strict decoding error: yaml: unmarshal errors:\n  line 4: key "parallelism" already set in map',
    },
    {
      name: "another version",
      head: "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
      body: "",
      want: 'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3": KubeSchedulerConfiguration of kubescheduler.config.k8s.io/v1 is needed',
    },
    {
      name: "no kind",
      head: "apiVersion: kubescheduler.config.k8s.io/v1\n",
      body: "",
      want: `Object 'Kind' is missing in '{"apiVersion":"kubescheduler.config.k8s.io/v1"}'`,
    },
    {
      name: "numbers",
      body: "parallelism: 0\npercentageOfNodesToScore: 101\npodInitialBackoffSeconds: 0\npodMaxBackoffSeconds: -1",
      want: "[parallelism: Invalid value: 0: should be an integer value greater than zero, percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, podMaxBackoffSeconds: Invalid value: -1: must be greater than or equal to PodInitialBackoffSeconds]",
    },
    {
      name: "two profiles, no names",
      body: "profiles: [{}, {}]",
      want: '[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName"]',
    },
    {
      name: "leader election",
      body: "leaderElection: {leaseDuration: 5s, renewDeadline: 10s}",
      want: 'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
    },
    {
      name: "another lock",
      body: "leaderElection: {resourceLock: endpoints}",
      want: 'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"',
    },
    {
      name: "plugins that once were",
      body: "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}, pluginConfig: [{name: GCEPDLimits}]}]",
      want: '[profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1"), profiles[0].pluginConfig[0]: Invalid value: "GCEPDLimits": was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")]',
    },
    {
      name: "two that sort",
      body: "profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: Custom}]}}}]",
      want: "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
    },
    {
      name: "profiles that sort differently",
      body: "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: Custom}], disabled: [{name: '*'}]}}}]",
      want: 'profiles[1].plugins.queueSort: Invalid value: ["Custom"]: must be the same for all profiles',
    },
    {
      name: "all at once, in order",
      body: "clientConnection: {burst: -1}\nleaderElection: {renewDeadline: 20s}\nparallelism: 0\nprofiles: [{schedulerName: a, percentageOfNodesToScore: -1, pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: -1}}]}, {schedulerName: a}]\npercentageOfNodesToScore: 101\nextenders: [{urlPrefix: 'http://a', prioritizeVerb: p}]",
      want: '[clientConnection.burst: Invalid value: -1: must be non-negative, leaderElection.leaseDuration: Invalid value: "20s": must be greater than `RenewDeadline`, parallelism: Invalid value: 0: should be an integer value greater than zero, profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100], profiles[1].schedulerName: Duplicate value: "profiles[0].schedulerName", percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], extenders[0].weight: Invalid value: 0: must have a positive weight applied to it]',
    },
    { name: "no YAML", body: "a: [", want: /^yaml: / },
  ];
  it.each(faults)("refused: $name", ({ body, head, want }) => {
    expect(() => read(body, head)).toThrow(typeof want === "string" ? new ConfigurationError(want) : want);
  });

  it("has several profiles, and warns of what makes no difference", () => {
    const { scheduler, warnings } = read(`parallelism: 8
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  percentageOfNodesToScore: 100
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
`);
    expect(scheduler.profiles.map(({ schedulerName }) => schedulerName)).toEqual(["default-scheduler", "packing"]);
    expect(scheduler.profiles[1]).toMatchObject({ percentageOfNodesToScore: 100 });
    expect(scheduler).toMatchObject({ percentageOfNodesToScore: 30, podInitialBackoffSeconds: 2 });
    expect(warnings).toEqual(["parallelism is ignored: nodes are checked one after another"]);
  });
});

it("can be looked at", () => {
  const told = configz(read("podMaxBackoffSeconds: 20\nleaderElection: {leaseDuration: 90s, renewDeadline: 1m}"));
  expect(told).toMatchObject({
    componentconfig: {
      PodMaxBackoffSeconds: 20,
      LeaderElection: { LeaderElect: true, LeaseDuration: "1m30s", ResourceName: "kube-scheduler" },
      Profiles: [
        {
          SchedulerName: "default-scheduler",
          Plugins: { QueueSort: { Enabled: [{ Name: "PrioritySort", Weight: 1 }] } },
          PluginConfig: expect.arrayContaining([{ Name: "VolumeBinding", Args: { BindTimeoutSeconds: 600 } }]),
        },
      ],
    },
  });
});

it("is warned of a cache that is filled later than the file says", () => {
  expect(read("delayCacheUntilActive: true").warnings).toEqual([]);
  expect(read("delayCacheUntilActive: false").warnings).toEqual([
    "delayCacheUntilActive is ignored: caches are filled once the scheduler leads",
  ]);
});

describe("extenders", () => {
  it("are read, and what they want ignored is ignored", () => {
    const { scheduler } = read(`extenders:
- urlPrefix: https://localhost:8443/scheduler
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 5
  enableHTTPS: true
  tlsConfig: {caFile: /ca.pem, serverName: extender}
  httpTimeout: 1.5s
  nodeCacheCapable: true
  ignorable: true
  managedResources: [{name: example.com/foo, ignoredByScheduler: true}]
`);
    expect(scheduler.extenders).toEqual([
      {
        urlPrefix: "https://localhost:8443/scheduler",
        filterVerb: "filter",
        prioritizeVerb: "prioritize",
        bindVerb: "",
        preemptVerb: "",
        weight: 5,
        timeoutMs: 1500,
        nodeCacheCapable: true,
        ignorable: true,
        managedResources: [{ name: "example.com/foo", ignoredByScheduler: true }],
        tls: { insecure: false, serverName: "extender", caPem: "PEM" },
      },
    ]);
    expect(scheduler.profiles[0]?.args.NodeResourcesFit.ignoredResources).toEqual(["example.com/foo"]);
  });

  it("have five seconds, and trust anyone if HTTPS is asked for without a word about whom", () => {
    const [extender] = read("extenders: [{urlPrefix: 'https://a', enableHTTPS: true}]").scheduler.extenders;
    expect(extender).toMatchObject({ timeoutMs: 5000, tls: { insecure: true } });
  });

  const faults = [
    {
      text: "{urlPrefix: 'http://a', prioritizeVerb: p}",
      want: "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
    },
    {
      text: "{urlPrefix: 'http://a', bindVerb: b}, {urlPrefix: 'http://b', bindVerb: b}",
      want: 'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
    },
    {
      text: "{urlPrefix: 'http://a', managedResources: [{name: cpu}]}",
      want: 'extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name',
    },
    {
      text: "{urlPrefix: 'http://a', managedResources: [{name: e.com/a}]}, {urlPrefix: 'http://b', managedResources: [{name: e.com/a}]}",
      want: 'extenders[1].managedResources[0].name: Invalid value: "e.com/a": duplicate extender managed resource name',
    },
    {
      text: "{urlPrefix: nowhere}",
      want: 'extenders[0].urlPrefix: Invalid value: "nowhere": must be an http or https URL',
    },
    {
      text: "{urlPrefix: 'https://a', tlsConfig: {caFile: /none.pem}}",
      want: /^extenders\[0\].tlsConfig.caFile: Invalid value: "\/none.pem": ENOENT/,
    },
    {
      text: "{urlPrefix: 'https://a', tlsConfig: {insecure: true, caFile: /ca.pem}}",
      want: "extenders[0].tlsConfig: specifying a root certificates file with the insecure flag is not allowed",
    },
  ];
  it.each(faults)("refused: $text", ({ text, want }) => {
    expect(() => read(`extenders: [${text}]`)).toThrow(typeof want === "string" ? new ConfigurationError(want) : want);
  });
});
