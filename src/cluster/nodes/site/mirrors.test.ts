import { expect, it } from "vitest";
import { registriesIn } from "./mirrors.ts";

it.each([
  ["a folder alone", "registry.corp", "", ["registry.corp:443"]],
  ["a folder with a port", "registry.corp:5000", "", ["registry.corp:5000"]],
  ["a folder with a port, as containerd may have it", "registry.corp_5000_", "", ["registry.corp:5000"]],
  [
    "mirrors",
    "docker.io",
    'server = "https://docker.io"\n\n[host."http://10.0.0.5:5000/v2"]\n  capabilities = ["pull"]\n[host."https://[fd00::5]"]\n',
    ["docker.io:443", "docker.io:443", "10.0.0.5:5000", "fd00::5:443"],
  ],
  ["mirrors of everything", "_default", '[host."http://mirror.corp"]', ["mirror.corp:80"]],
  ["what is no address", "_default", '[host."::"]\nca = "/x.crt"', []],
] as const)("the user's registries: %s", (_, name, text, want) => {
  expect(registriesIn(name, text).map(({ host, port }) => `${host}:${port}`)).toEqual(want);
});
