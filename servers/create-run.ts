import path from "node:path";
import type { AppInfo } from "../contract/control.ts";
import { services as builtServices, plannedServices } from "./catalog.ts";
import type { CommandLine } from "./command-line.ts";
import type { Service } from "./core/service/service.ts";
import { defaultDataDir } from "./data-dir.ts";
import type { ServiceTiming } from "./supervisor/managed-service-options.ts";
import type { Spawner } from "./supervisor/spawner.ts";
import { createSupervisor, type Supervisor } from "./supervisor/supervisor.ts";

export interface RunParts {
  readonly commandLine: CommandLine;
  readonly spawner: Spawner;
  readonly shell: AppInfo["shell"];
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Default: those of the catalog. */
  readonly services?: readonly Service[];
  readonly timing?: Partial<ServiceTiming>;
  /** Desktop: asks the user where to write an export. */
  readonly chooseFile?: (name: string) => Promise<string | undefined>;
}

export const dataDirOf = ({ commandLine, environment }: Pick<RunParts, "commandLine" | "environment">): string =>
  path.resolve(commandLine.dataDir ?? defaultDataDir(environment));

/** Creates the supervisor of one run, for both shells. */
export function createRun({
  commandLine,
  spawner,
  shell,
  version,
  environment,
  services = builtServices,
  timing,
  chooseFile,
}: RunParts): Promise<Supervisor> {
  return createSupervisor({
    services,
    planned: plannedServices,
    spawner,
    dataDir: dataDirOf({ commandLine, environment }),
    shell,
    version,
    environment,
    flags: commandLine.flags,
    profile: commandLine.profile,
    alone: commandLine.only && commandLine.start.length === 1 ? commandLine.start[0] : undefined,
    ...(timing && { timing }),
    ...(chooseFile && { chooseFile }),
  });
}
