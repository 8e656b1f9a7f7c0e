import { readFunctionSettings } from '../lambda/function-settings.ts';
import { createLambdaFunction, type LambdaFunction } from '../lambda/lambda-function.ts';
import { physicalName } from '../template/physical-name.ts';
import { inert, nested, used } from '../template/property-table.ts';
import type { ResourceKind } from './resource-kind.ts';

export const functionResource: ResourceKind = {
  properties: {
    FunctionName: used,
    Code: nested({ S3Bucket: used, S3Key: used }),
    Handler: used,
    Runtime: used,
    Role: used,
    MemorySize: used,
    Timeout: used,
    PackageType: used,
    ReservedConcurrentExecutions: used,
    Environment: nested({ Variables: used }),
    Architectures: inert('the code runs on this machine, whatever it is'),
    Description: inert('nothing reads it'),
    EphemeralStorage: inert('functions get no directory of their own here'),
    KmsKeyArn: inert('variables are not stored'),
    LoggingConfig: inert('lines go to the log of the local AWS'),
    RecursiveLoop: inert('loops are not looked for here'),
    RuntimeManagementConfig: inert('there is one runtime, this process\u2019s own Node'),
    TracingConfig: inert('no traces are kept'),
    VpcConfig: inert('there is one network here, the loopback of this machine'),
    Tags: inert('nothing reads them'),
  },
  create({ logicalId, properties }, services) {
    const { place, assets, lambdaHost, functions } = services;
    const name = properties.textOr(
      'FunctionName',
      physicalName(place, logicalId, { lengthMax: 64 }),
    );
    const arn = `arn:aws:lambda:${place.region}:${place.accountId}:function:${name}`;
    const code = properties.object('Code');
    if (code === undefined) throw properties.refuse('Code', 'an object with S3Bucket and S3Key');
    const settings = readFunctionSettings(properties, {
      functionName: name,
      functionArn: arn,
      codeDirectory: assets.directoryOf(code.text('S3Bucket'), code.text('S3Key')),
    });
    functions.set(logicalId, createLambdaFunction(logicalId, settings, lambdaHost));
    return Promise.resolve({ physicalId: name, attributes: { Arn: arn } });
  },
};

/** By ARN, physical name or logical id. Throws with the names that there are. */
export function findFunction(
  functions: ReadonlyMap<string, LambdaFunction>,
  name: string,
): LambdaFunction {
  const found =
    functions.get(name) ??
    functions.values().find((candidate) => candidate.arn === name || candidate.name === name);
  if (found !== undefined) return found;
  throw new Error(
    `there is no function "${name}"; known: ${[...functions.keys()].join(', ') || '(none)'}`,
  );
}
