/** Addresses of the namespaces that are outside of a machine of tests: ranges for documentation. */
export const OUTSIDE = {
  machine: "198.51.100.2",
  machine6: "2001:db8:51::2",
  router: "198.51.100.1",
  router6: "2001:db8:51::1",
  dns: "203.0.113.53",
  web: "203.0.113.80",
  web6: "2001:db8:80::80",
  registry: "203.0.113.5",
  /** Smaller than usual: a machine behind a tunnel. */
  mtu: 1400,
} as const;

/** Registries with TLS at the registry's address: who may read, and which repositories they have. */
export const PRIVATE: Readonly<Record<string, { readonly user: string; readonly repositories: RegExp }>> = {
  /** For Pods with a pull secret. */
  "private.outside.test": { user: "team:one", repositories: /^team\/app$/ },
  /** Known from registries.yaml, also as a mirror. */
  "known.outside.test": { user: "node:two", repositories: /^(app|mirrored\/app)$/ },
  /** Known to a credential provider. */
  "cloud.outside.test": { user: "cloud:three", repositories: /^app$/ },
};
