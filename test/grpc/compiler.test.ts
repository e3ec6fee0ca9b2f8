import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { compileProtos } from "../../servers/grpc/protos/compile-protos.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const folder = path.join(import.meta.dirname, "protos");
const sourceOf = (name: string) => ({ name, text: readFileSync(path.join(folder, name), "utf8") });
const run = promisify(execFile);

it("[GRPC-40] compiles files as protoc does: imports, proto2, options, extensions, groups, maps, oneofs, defaults", async () => {
  const output = path.join(temporaryDir(), "set.pb");
  await run("protoc", ["-I", folder, "--include_imports", `--descriptor_set_out=${output}`, "all.proto"]);
  const expected = fromBinary(FileDescriptorSetSchema, new Uint8Array(readFileSync(output))).file;
  const { files, errors } = compileProtos({ sources: ["all.proto", "sub/base.proto"].map(sourceOf) });
  expect(errors).toEqual([]);
  for (const name of ["sub/base.proto", "all.proto", "google/protobuf/timestamp.proto"]) {
    const ours = files.find(({ proto }) => proto.name === name)?.proto;
    const read = ours && fromBinary(FileDescriptorProtoSchema, toBinary(FileDescriptorProtoSchema, ours));
    expect(read, name).toEqual(expected.find((file) => file.name === name));
  }
});

const broken: readonly (readonly [text: string, problem: string])[] = [
  ['syntax = "proto3";\nmessage A {\n  string a = 1\n}', '4:1: ";" is missing before "}"'],
  ['syntax = "proto3";\nmessage A { Nothing a = 1; }', "2:21: there is no type Nothing"],
  ['syntax = "proto3";\nmessage A { int32 a = 1; int32 b = 1; }', "2:32: the number 1 is that of a already"],
  ['syntax = "proto3";\nimport "missing.proto";', "2:8: there is no file missing.proto to import"],
  ['syntax = "proto3";\nmessage A {}\nenum A { X = 0; }', "3:6: A is defined in this file already"],
  ['syntax = "proto3";\nenum E { X = 1; }', "2:6: the first value of an enum is 0 in proto3"],
  ['syntax = "proto3";\nmessage A { required int32 a = 1; }', "2:13: proto3 has no required fields"],
  ['syntax = "proto3";\nmessage A { reserved 2; int32 a = 2; }', "2:31: the number 2 is reserved"],
  ['syntax = "proto3";\noption (nothing) = 1;', "2:8: there is no option (nothing) of google.protobuf.FileOptions"],
  ['syntax = "proto3";\nmessage A { string a = 1 [deprecated = 7]; }', "2:40: this is not a bool"],
  ['syntax = "proto4";', '1:1: there is no syntax "proto4"'],
  ["message A { int32 a = 1; }", "1:13: proto2 wants optional, required or repeated here"],
  ['syntax = "proto3";\nservice S { rpc A(B) returns (B); }', "2:17: there is no type B"],
  ['syntax = "proto3";\n/* open', "2:1: the comment is not closed"],
  ['syntax = "proto3";\nimport "broken.proto";', "2:8: broken.proto imports this file too: the imports are circular"],
];

it("[GRPC-41] names the line and column of what is wrong in a broken file, and the good ones go on", () => {
  for (const [text, problem] of broken) {
    const { files, errors } = compileProtos({
      sources: [
        { name: "broken.proto", text },
        { name: "needs.proto", text: 'syntax = "proto3";\nimport "broken.proto";' },
        { name: "good.proto", text: 'syntax = "proto3";\nmessage Good { int32 a = 1; }' },
      ],
    });
    expect(errors.map(({ message }) => message)).toEqual([
      `broken.proto:${problem}`,
      "needs.proto:2:8: imports broken.proto, which is broken",
    ]);
    expect(files.map(({ proto }) => proto.name)).toEqual(["good.proto"]);
  }
});

it("[GRPC-42] no text makes the compiler throw, hang or grow: files that are cut and changed at random places", () => {
  const random = seededRandom(40);
  const { text } = sourceOf("all.proto");
  for (let round = 0; round < 300; round++) {
    const from = random.below(text.length);
    const length = random.below(40);
    const insert = String.fromCharCode(...Array.from({ length: random.below(6) }, () => 32 + random.below(95)));
    const changed = text.slice(0, from) + insert + text.slice(from + length, random.chance(0.2) ? from + length + 500 : undefined);
    const { errors } = compileProtos({ sources: [{ name: "all.proto", text: changed }, sourceOf("sub/base.proto")] });
    for (const { line, column } of errors) expect(line >= 1 && column >= 1).toBe(true);
  }
  const deep = `syntax = "proto3";\n${"message A {".repeat(10_000)}`;
  expect(compileProtos({ sources: [{ name: "deep.proto", text: deep }] }).errors[0]?.message).toMatch(/nested more than 64 deep/);
});
