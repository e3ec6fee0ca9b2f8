import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { sampleActions } from "../contract/sample-traffic.ts";
import { serviceIds } from "../contract/service.ts";
import { plannedServices, services } from "../servers/catalog.ts";
import type { Service } from "../servers/core/service/service.ts";
import { readSources, type SourceFile } from "./support/source-files.ts";
import { projectRoot } from "./support/start-backlot.ts";

const sources = readSources(["contract", "servers", "electron", "renderer"]);
const shared = ["servers/core", "servers/supervisor"];

/** The folder that a rule speaks of: "servers/http", "servers" for its own files, "renderer". */
function folderOf(file: string): string {
  const [top = "", second = "", ...rest] = file.split("/");
  return top === "servers" && rest.length > 0 ? `${top}/${second}` : top;
}
const isService = (folder: string) => folder.startsWith("servers/") && !shared.includes(folder);

function mayImport(from: string, to: string): boolean {
  if (from === to || to === "contract") return true;
  if (from === "contract" || from === "renderer" || from === "servers/core") return false;
  if (from === "servers/supervisor" || isService(from)) return to === "servers/core";
  const isServers = to === "servers" || to.startsWith("servers/");
  return (from === "servers" || from === "electron") && (isServers || to === "package.json");
}

/** Pages of services run in browsers, as the dashboard does, and their lists have the same pace. */
const isPage = (name: string) => /^servers\/[\w-]+\/[\w-]+\/page\//.test(name);
const paceOfLists = "renderer/src/control/frame-store.ts";

/** Paths like "a.ts → b.ts → a.ts". */
function cycles(files: readonly SourceFile[]): string[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const done = new Set<string>();
  const found: string[] = [];
  function visit(name: string, trail: readonly string[]) {
    const at = trail.indexOf(name);
    if (at >= 0) found.push([...trail.slice(at), name].join(" → "));
    if (at >= 0 || done.has(name)) return;
    for (const { file } of byName.get(name)?.imports ?? []) if (file) visit(file, [...trail, name]);
    done.add(name);
  }
  for (const { name } of files) visit(name, []);
  return found;
}

/** What docs/architecture.md asks of a service: everything of it is found in the same places. */
const filesOfService = (id: string): readonly string[] => [
  `servers/${id}/${id}-service.ts`,
  `servers/${id}/${id}-config.ts`,
  `servers/${id}/${id}-actions.ts`,
  `servers/${id}/${id}-snippets.ts`,
  `servers/${id}/start-${id}.ts`,
  `servers/${id}/sample-traffic.ts`,
  `contract/services/${id}.ts`,
  `renderer/src/services/${id}/${id}-page.tsx`,
  `docs/spec/${id}.md`,
  `test/${id}`,
];
const textOf = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

/** What steps 2, 5 and 6 of the list ask for beyond files that always have the same name. */
function missingOf({ id, title }: Service): readonly string[] {
  const definition = sources.find(({ name }) => name === `servers/${id}/${id}-service.ts`);
  const hasEndpoints = definition?.imports.some(
    ({ file }) => file === `servers/${id}/${id}-endpoints.ts` || file === "servers/core/http/http-definition.ts",
  );
  const tests = readdirSync(path.join(projectRoot, "test", id)).filter((name) => name.endsWith(".test.ts"));
  const wanted: readonly (readonly [string, boolean | undefined])[] = [
    [`the endpoints of ${title} in ${id}-endpoints.ts`, hasEndpoints],
    [`the row of ${title} in README.md`, textOf("README.md").includes(`\n| ${title} | `)],
    [`a line about ${title} in CHANGELOG.md`, new RegExp(`\\b${title}\\b`, "i").test(textOf("CHANGELOG.md"))],
    [
      `the pictures of ${title} in scripts/screenshots.mjs`,
      new RegExp(`"(?:${id}-live|${title})"`).test(textOf("scripts/screenshots.mjs")),
    ],
    [`the tests in test/${id}`, tests.length > 0],
    [`the settings of ${title} in docs/settings.md`, textOf("docs/settings.md").includes(`\n## ${title}\n`)],
  ];
  return wanted.flatMap(([what, found]) => (found ? [] : [what]));
}
const foldersIn = (folder: string): readonly string[] =>
  readdirSync(path.join(projectRoot, folder), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

describe("architecture", () => {
  it("reads every file with its imports", () => {
    expect(sources.length).toBeGreaterThan(100);
    const supervisor = sources.find(({ name }) => name === "servers/supervisor/supervisor.ts");
    expect(supervisor?.imports.map(({ file }) => file)).toContain("servers/supervisor/topic-hub.ts");
  });

  it("imports follow the folders: contract ← core ← services and supervisor ← servers ← electron; the renderer knows the contract only", () => {
    const wrong = sources.flatMap(({ name, imports }) =>
      imports.flatMap(({ file }) =>
        file && !mayImport(folderOf(name), folderOf(file)) && !(isPage(name) && file === paceOfLists) ? [`${name} imports ${file}`] : [],
      ),
    );
    expect(wrong).toEqual([]);
  });

  it("the contract needs zod and, for messages of gRPC, protobuf-es; only electron/ imports electron; the renderer imports nothing of Node", () => {
    const wrong = sources.flatMap(({ name, imports }) =>
      imports.flatMap(({ file, specifier }) => {
        if (file) return [];
        const folder = folderOf(name);
        const allowed =
          folder === "contract"
            ? specifier === "zod" || specifier.startsWith("@bufbuild/protobuf")
            : specifier === "electron"
              ? folder === "electron"
              : folder !== "renderer" || !specifier.startsWith("node:") || name.endsWith("vite.config.ts");
        return allowed ? [] : [`${name} imports ${specifier}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("in the renderer, shared code imports neither pages nor services", () => {
    const wrong = sources.flatMap(({ name, imports }) =>
      /^renderer\/src\/(?:control|inspectors|list|ui|viewer)\//.test(name)
        ? imports.flatMap(({ file }) => (file && /^renderer\/src\/(?:pages|services)\//.test(file) ? [`${name} imports ${file}`] : []))
        : [],
    );
    expect(wrong).toEqual([]);
  });

  it("every imported file exists, and the import has its extension", () => {
    const names = new Set(sources.map(({ name }) => name));
    const missing = sources.flatMap(({ name, imports }) =>
      imports.flatMap(({ file }) =>
        file && !names.has(file) && !/\.(css|json|svg|png|woff2)$/.test(file) ? [`${name} imports ${file}`] : [],
      ),
    );
    expect(missing).toEqual([]);
  });

  it("every service has the same files in the same places, and is registered once on each side", () => {
    const isBuilt = (id: string) => existsSync(path.join(projectRoot, `servers/${id}/${id}-service.ts`));
    // A planned service may have its folder already; it is built, and leaves that list, with its definition.
    const ids = foldersIn("servers").filter(
      (name) => isService(`servers/${name}`) && (isBuilt(name) || !plannedServices.some(({ id }) => id === name)),
    );
    expect(ids.length).toBeGreaterThan(3);
    expect(ids.flatMap(filesOfService).filter((file) => !existsSync(path.join(projectRoot, file)))).toEqual([]);
    expect(services.flatMap(missingOf)).toEqual([]);
    expect(services.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(serviceIds).toEqual(expect.arrayContaining(ids));
    const registry = sources.find(({ name }) => name === "renderer/src/services/registry.ts");
    const pages = registry?.imports.flatMap(({ file }) => /^renderer\/src\/services\/(\w+)\/\1-page\.tsx$/.exec(file ?? "")?.[1] ?? []);
    expect(pages?.sort()).toEqual([...ids].sort());
    expect(plannedServices.filter(({ id }) => ids.includes(id))).toEqual([]);
  });

  it("the sample traffic of every service is started and stopped by the shared actions, without parameters", () => {
    const wrong = services.flatMap(({ id, actions }) =>
      Object.keys(sampleActions).flatMap((name) => (actions[name]?.params.safeParse({}).success ? [] : [`${id} ${name}`])),
    );
    expect(wrong).toEqual([]);
  });

  it("a service's definition is light: heavy modules are imported by its start", () => {
    const heavy = sources
      .filter(({ name }) => /^servers\/(\w+)\/\1-service\.ts$/.test(name))
      .flatMap(({ name, imports, text }) =>
        imports.flatMap(({ specifier, typeOnly }) => {
          const isDynamic = text.includes(`import("${specifier}")`);
          return !typeOnly && !isDynamic && /(?:^|\/)start-|-actions\.ts$/.test(specifier) ? [`${name} imports ${specifier}`] : [];
        }),
      );
    expect(heavy).toEqual([]);
  });

  it("there are no circular imports, also none of types", () => {
    expect(cycles(sources)).toEqual([]);
  });

  it("a file exports what it defines: no barrels, and default exports only for tools", () => {
    const barrels = sources.filter(({ text }) => /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s*(?:as \w+ )?from\s/m.test(text));
    const defaults = sources.filter(
      ({ name, text }) => /^export\s+default\b|^export\s*\{[^}]*\bas default\b/m.test(text) && !/\.config\.ts$/.test(name),
    );
    expect([...barrels, ...defaults].map(({ name }) => name)).toEqual([]);
  });

  it("no file is longer than 400 lines", () => {
    const long = [...sources, ...readSources(["test"])].filter(({ text }) => text.split("\n").length > 401);
    expect(long.map(({ name, text }) => `${name}: ${text.split("\n").length}`)).toEqual([]);
  });

  it("no file is named utils, helpers or common, and no interface name begins with I", () => {
    const vague = sources.filter(
      ({ name }) => /\/(?:utils?|helpers?|common|misc|index)\.tsx?$/.test(name) && !name.startsWith("renderer/index"),
    );
    const prefixed = sources.filter(({ text }) => /\binterface I[A-Z][a-z]/.test(text));
    expect([...vague, ...prefixed].map(({ name }) => name)).toEqual([]);
  });
});
