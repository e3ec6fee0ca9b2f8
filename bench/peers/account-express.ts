/** One route on Express as it comes, or with a check of the token alone. `node account-express.ts PORT [verify]` */
import { createSecretKey, randomBytes } from "node:crypto";
import express from "express";
import jwt from "jsonwebtoken";

const port = Number(process.argv[2]);
const body: unknown = JSON.parse(process.env.BENCH_DETAILS_BODY ?? "{}");
const key = createSecretKey(randomBytes(32));
const checks = { issuer: "client-portal", audience: "client-portal" };

const app = express();
if (process.argv[3] === "verify") {
  const token = jwt.sign({ sub: "1", sid: "0123456789abcdef", jti: "fedcba9876543210" }, key, {
    ...checks,
    algorithm: "HS256",
    expiresIn: "1 day",
  });
  app.get("/token", (_request, response) => void response.json({ token }));
  app.use((request, response, next) => {
    try {
      jwt.verify((request.headers.authorization ?? "").replace(/^Bearer /, ""), key, { ...checks, algorithms: ["HS256"] });
      next();
    } catch {
      response.status(401).json({ error: ["invalidtoken"] });
    }
  });
}
app.get("/details", (_request, response) => void response.json(body));
app.listen(port, "127.0.0.1");
