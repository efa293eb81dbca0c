/**
 * The projects whose custom resources are tried: what their schemas leave open (which kinds belong to no namespace), a
 * field with its text, and objects of theirs, good ones as users write them and bad ones with what the server says
 * about them.
 */
export interface Bad {
  readonly why: string;
  /** Laid over the good object's spec. */
  readonly spec: object;
  /** With the field's path. */
  readonly says: string;
}

export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: object;
  /** What the server has added to the spec, for schemas with defaults. */
  readonly defaulted?: object;
  /** The same for the status. */
  readonly status?: object;
  readonly bad: readonly Bad[];
}

export interface Project {
  /** As the project calls itself. */
  readonly title: string;
  /** Whose definitions the schemas are from; a version of the API where nobody has written the release down. */
  readonly release: string;
  /** Below .tools/operator-schemas. */
  readonly folder: string;
  readonly definitions: number;
  readonly clusterScoped?: readonly string[];
  readonly abandoned?: readonly string[];
  readonly explained: { readonly field: string; readonly says: readonly string[] };
  readonly samples: readonly Sample[];
}

export const projects: readonly Project[] = [
  {
    title: "cert-manager",
    release: "1.11",
    folder: "cert-manager",
    definitions: 10,
    clusterScoped: ["ClusterIssuer", "AWSPCAClusterIssuer", "CertificateRequestPolicy", "Bundle"],
    abandoned: ["certmanager.k8s.io"],
    explained: {
      field: "certificates.spec.issuerRef",
      says: ["GROUP:      cert-manager.io", "VERSION:    v1", "FIELD: issuerRef <Object>", "name\t<string> -required-"],
    },
    samples: [
      {
        apiVersion: "cert-manager.io/v1",
        kind: "Certificate",
        spec: {
          secretName: "web-tls",
          dnsNames: ["web.example.com"],
          duration: "2160h",
          issuerRef: { name: "letsencrypt", kind: "Issuer" },
          privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
          usages: ["server auth"],
        },
        bad: [
          { why: "no secret", spec: { secretName: undefined }, says: "spec.secretName: Required value" },
          {
            why: "an algorithm that does not exist",
            spec: { privateKey: { algorithm: "DSA" } },
            says: 'spec.privateKey.algorithm: Unsupported value: "DSA": supported values: "RSA", "ECDSA", "Ed25519"',
          },
          {
            why: "a number in a list of names",
            spec: { dnsNames: ["a", 7] },
            says: 'spec.dnsNames[1]: Invalid value: "integer": spec.dnsNames[1] in body must be of type string: "integer"',
          },
        ],
      },
      {
        apiVersion: "cert-manager.io/v1",
        kind: "Issuer",
        spec: {
          acme: {
            server: "https://acme.example.com/directory",
            email: "ops@example.com",
            privateKeySecretRef: { name: "account" },
            solvers: [{ http01: { ingress: { class: "nginx" } } }],
          },
        },
        bad: [
          {
            why: "no server to ask",
            spec: { acme: { privateKeySecretRef: { name: "account" } } },
            says: "spec.acme.server: Required value",
          },
        ],
      },
    ],
  },
  {
    title: "Argo CD",
    release: "2.10",
    folder: "argo-cd",
    definitions: 3,
    explained: {
      field: "applications.spec.syncPolicy.automated",
      says: ["GROUP:      argoproj.io", "FIELD: automated <Object>", "prune\t<boolean>"],
    },
    samples: [
      {
        apiVersion: "argoproj.io/v1alpha1",
        kind: "Application",
        spec: {
          project: "default",
          source: { repoURL: "https://git.example.com/shop.git", path: "deploy", targetRevision: "HEAD" },
          destination: { server: "https://kubernetes.default.svc", namespace: "shop" },
          syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions: ["CreateNamespace=true"] },
        },
        bad: [
          { why: "nowhere to go", spec: { destination: undefined }, says: "spec.destination: Required value" },
          {
            why: "a word for a boolean",
            spec: { syncPolicy: { automated: { prune: "yes" } } },
            says: "spec.syncPolicy.automated.prune in body must be of type boolean",
          },
        ],
      },
    ],
  },
  {
    title: "Flux",
    release: "2.2",
    folder: "flux-cd",
    definitions: 13,
    explained: {
      field: "gitrepositories.spec.url",
      says: ["GROUP:      source.toolkit.fluxcd.io", "FIELD: url <string>"],
    },
    samples: [
      {
        apiVersion: "source.toolkit.fluxcd.io/v1",
        kind: "GitRepository",
        spec: { url: "https://git.example.com/shop.git", interval: "1m30s", ref: { branch: "main" } },
        defaulted: { timeout: "60s" },
        bad: [
          {
            why: "no way to fetch it",
            spec: { url: "ftp://git.example.com" },
            says: "spec.url: Invalid value: \"ftp://git.example.com\": spec.url in body should match '^(http|https|ssh)://.*$'",
          },
          { why: "no duration", spec: { interval: "often" }, says: 'spec.interval: Invalid value: "often"' },
        ],
      },
      {
        apiVersion: "helm.toolkit.fluxcd.io/v2beta2",
        kind: "HelmRelease",
        spec: {
          interval: "5m",
          chart: { spec: { chart: "shop", sourceRef: { kind: "HelmRepository", name: "charts" } } },
          values: { anything: { goes: [1, "two", { three: 3 }] } },
        },
        bad: [
          {
            why: "a source of another kind",
            spec: { chart: { spec: { chart: "shop", sourceRef: { kind: "Secret", name: "charts" } } } },
            says: 'spec.chart.spec.sourceRef.kind: Unsupported value: "Secret"',
          },
        ],
      },
    ],
  },
  {
    title: "Prometheus Operator",
    release: "0.57",
    folder: "prometheus-operator",
    definitions: 8,
    explained: {
      field: "servicemonitors.spec.endpoints",
      says: ["GROUP:      monitoring.coreos.com", "FIELD: endpoints <[]Object>", "targetPort\t<Object>"],
    },
    samples: [
      {
        apiVersion: "monitoring.coreos.com/v1",
        kind: "ServiceMonitor",
        spec: {
          selector: { matchLabels: { app: "web" } },
          endpoints: [
            { port: "metrics", interval: "30s" },
            { targetPort: 9090, path: "/metrics" },
          ],
        },
        bad: [
          { why: "no selector", spec: { selector: undefined }, says: "spec.selector: Required value" },
          {
            why: "neither a number nor a name",
            spec: { endpoints: [{ targetPort: true }] },
            says: 'spec.endpoints[0].targetPort: Invalid value: "boolean": spec.endpoints[0].targetPort in body must be of type integer,string: "boolean"',
          },
          {
            why: "no duration",
            spec: { endpoints: [{ port: "metrics", interval: "soon" }] },
            says: 'spec.endpoints[0].interval: Invalid value: "soon"',
          },
        ],
      },
      {
        apiVersion: "monitoring.coreos.com/v1",
        kind: "Prometheus",
        spec: {
          replicas: 2,
          resources: { requests: { memory: "400Mi", cpu: 1 } },
          serviceMonitorSelector: {},
          storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: "10Gi" } } } } },
        },
        bad: [
          {
            why: "no quantity",
            spec: { resources: { requests: { memory: "lots" } } },
            says: 'spec.resources.requests.memory: Invalid value: "lots"',
          },
        ],
      },
    ],
  },
  {
    title: "Istio",
    release: "1.18",
    folder: "istio",
    definitions: 15,
    explained: {
      field: "virtualservices.spec.http.route",
      says: ["GROUP:      networking.istio.io", "FIELD: route <[]Object>", "destination\t<Object>"],
    },
    samples: [
      {
        apiVersion: "networking.istio.io/v1beta1",
        kind: "VirtualService",
        spec: {
          hosts: ["shop.example.com"],
          http: [
            {
              match: [{ uri: { prefix: "/cart" } }],
              route: [{ destination: { host: "cart", port: { number: 80 } }, weight: 100 }],
            },
          ],
        },
        bad: [
          {
            why: "two ways to match at once",
            spec: { http: [{ match: [{ uri: { prefix: "/", exact: "/" } }] }] },
            says: "spec.http[0].match[0].uri",
          },
          {
            why: "a word for a number",
            spec: { http: [{ route: [{ destination: { host: "cart" }, weight: "all" }] }] },
            says: "spec.http[0].route[0].weight in body must be of type integer",
          },
        ],
      },
      {
        apiVersion: "security.istio.io/v1",
        kind: "AuthorizationPolicy",
        spec: {
          action: "ALLOW",
          rules: [{ from: [{ source: { namespaces: ["shop"] } }], to: [{ operation: { methods: ["GET"] } }] }],
        },
        bad: [
          {
            why: "an action that does not exist",
            spec: { action: "MAYBE" },
            says: 'spec.action: Unsupported value: "MAYBE"',
          },
        ],
      },
    ],
  },
  {
    title: "Gateway API",
    release: "1.0",
    folder: "gateway-api",
    definitions: 9,
    clusterScoped: ["GatewayClass"],
    explained: {
      field: "httproutes.spec.parentRefs.name",
      says: ["GROUP:      gateway.networking.k8s.io", "VERSION:    v1", "FIELD: name <string>"],
    },
    samples: [
      {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "Gateway",
        spec: {
          gatewayClassName: "edge",
          listeners: [{ name: "http", port: 80, protocol: "HTTP", hostname: "*.example.com" }],
        },
        status: {
          conditions: [
            { type: "Accepted", status: "Unknown" },
            { type: "Programmed", status: "Unknown" },
          ],
        },
        defaulted: { listeners: [{ name: "http", allowedRoutes: { namespaces: { from: "Same" } } }] },
        bad: [
          {
            why: "a port that does not exist",
            spec: { listeners: [{ name: "http", port: 65_536, protocol: "HTTP" }] },
            says: "spec.listeners[0].port: Invalid value: 65536: spec.listeners[0].port in body should be less than or equal to 65535",
          },
          {
            why: "no listener",
            spec: { listeners: [] },
            says: "spec.listeners: Invalid value: 0: spec.listeners in body should have at least 1 items",
          },
        ],
      },
      {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "HTTPRoute",
        spec: {
          parentRefs: [{ name: "edge" }],
          hostnames: ["shop.example.com"],
          rules: [
            { matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: [{ name: "shop", port: 80 }] },
          ],
        },
        defaulted: {
          parentRefs: [{ name: "edge", group: "gateway.networking.k8s.io", kind: "Gateway" }],
          rules: [{ backendRefs: [{ name: "shop", weight: 1, kind: "Service", group: "" }] }],
        },
        bad: [
          {
            why: "a name that is none",
            spec: { hostnames: ["shop_1"] },
            says: 'spec.hostnames[0]: Invalid value: "shop_1"',
          },
        ],
      },
    ],
  },
  {
    title: "KEDA",
    release: "2.10",
    folder: "keda",
    definitions: 4,
    clusterScoped: ["ClusterTriggerAuthentication"],
    explained: {
      field: "scaledobjects.spec.triggers",
      says: ["GROUP:      keda.sh", "FIELD: triggers <[]Object>", "type\t<string> -required-"],
    },
    samples: [
      {
        apiVersion: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        spec: {
          scaleTargetRef: { name: "web" },
          minReplicaCount: 0,
          maxReplicaCount: 5,
          triggers: [
            {
              type: "cron",
              metadata: { timezone: "Etc/UTC", start: "0 6 * * *", end: "0 20 * * *", desiredReplicas: "2" },
            },
          ],
        },
        bad: [
          { why: "nothing that triggers", spec: { triggers: undefined }, says: "spec.triggers: Required value" },
          {
            why: "a trigger without a type",
            spec: { triggers: [{ metadata: {} }] },
            says: "spec.triggers[0].type: Required value",
          },
        ],
      },
    ],
  },
  {
    title: "Sealed Secrets",
    release: "v1alpha1",
    folder: "sealed-secrets",
    definitions: 1,
    explained: { field: "sealedsecrets.spec", says: ["GROUP:      bitnami.com", "encryptedData\t<Object>"] },
    samples: [
      {
        apiVersion: "bitnami.com/v1alpha1",
        kind: "SealedSecret",
        spec: {
          encryptedData: { password: "AgBy8hCi" },
          template: { type: "Opaque", metadata: { name: "login", labels: { app: "web" } } },
        },
        bad: [
          {
            why: "a text for an object",
            spec: { encryptedData: "AgBy8hCi" },
            says: 'spec.encryptedData: Invalid value: "string": spec.encryptedData in body must be of type object: "string"',
          },
        ],
      },
    ],
  },
];
