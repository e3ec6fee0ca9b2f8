/** A persistent broker in a process of its own, to be killed: prints its port. */
import { runService } from "../../servers/core/run-service.ts";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";

const config = { port: 0, webSocket: false, tls: false, sysIntervalSeconds: 0, persistence: true, logLevel: "error" };
const service = await runService(mqttService, { config, dataDir: process.argv[2] ?? "" });
console.log(new URL(service.endpoints[0]?.url ?? "").port);
