import path from "node:path";
import { expect, it } from "vitest";
import { configFields } from "../../servers/core/config/config.ts";
import { grpcService } from "../../servers/grpc/grpc-service.ts";
import { namedAsSet } from "../../servers/supervisor/setting-names.ts";
import { nodeSpawner } from "../../servers/supervisor/spawner.ts";
import { projectRoot } from "../support/start-backlot.ts";
import { supervise } from "./supervise.ts";

it("[BL-24] the hint of a service names a field by what sets it", () => {
  const hint = "Correct the file, or its path in GRPC_PROTOS. Leave GRPC_CLIENT_CA_FILE empty, and TLS as it is: GRPC_NOTHING.";
  const named = (sources: object) => namedAsSet(hint, configFields(grpcService, { file: {}, environment: {}, flags: {}, ...sources }));
  expect(named({})).toBe(hint);
  expect(named({ environment: { GRPC_PROTOS: "a" } })).toBe(hint);
  expect(named({ flags: { protos: "a" }, environment: { GRPC_PROTOS: "b" } })).toBe(hint.replace("GRPC_PROTOS", "--grpc-protos"));
  expect(named({ file: { protos: ["a"] }, run: { clientCaFile: "b" } })).toBe(
    "Correct the file, or its path in Config (Protocol files). Leave Config (Client authority) empty, and TLS as it is: GRPC_NOTHING.",
  );
});

it("[BL-24] the failure of a service whose file is missing names the flag that set it", async () => {
  const { supervisor } = await supervise({
    services: [grpcService],
    spawner: nodeSpawner(path.join(projectRoot, "servers/service-process.ts")),
    flags: { grpc: { port: "0", webPort: "0", metricsPort: "0", protos: "/nonexistent" } },
  });
  await expect(supervisor.start("grpc")).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    hint: "Correct the file or folder, or its path in --grpc-protos.",
  });
});
