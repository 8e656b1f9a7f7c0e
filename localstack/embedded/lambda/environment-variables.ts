import {
  DETERMINISM_VARIABLE,
  type DeterminismSetting,
} from '../../../shared/config/environment.ts';
import type { FunctionSettings } from './function-settings.ts';

/** Where a function's SDK clients find the local services. */
export interface ServiceEndpoints {
  readonly kinesis: string;
  readonly dynamodb: string;
  readonly s3: string;
  readonly lambda: string;
  readonly stepFunctions: string;
}

/**
 * The whole environment of a function's process: the template's variables, what Lambda itself sets, the SDK's standard
 * endpoint variables, and one of ours: locally an operator that is not deterministic fails, where in production it is
 * only counted. Nothing of this process's own environment gets in.
 */
export function environmentVariables(
  settings: FunctionSettings,
  host: { region: string; runtimeApi: string; logStreamName: string; endpoints: ServiceEndpoints },
): Record<string, string> {
  return {
    // Defaults that a function may change, as on Lambda.
    LANG: 'en_US.UTF-8',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    TZ: 'UTC',
    // Not on Lambda. A template that sets it has the last word here, too.
    [DETERMINISM_VARIABLE]: 'strict' satisfies DeterminismSetting,
    ...settings.variables,
    ...lambdaVariables(settings, host),
    AWS_ENDPOINT_URL_KINESIS: host.endpoints.kinesis,
    AWS_ENDPOINT_URL_DYNAMODB: host.endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: host.endpoints.s3,
    AWS_ENDPOINT_URL_LAMBDA: host.endpoints.lambda,
    AWS_ENDPOINT_URL_SFN: host.endpoints.stepFunctions,
  };
}

/** The access key of who acts with a role: the role's name. */
function accessKeyOf(roleArn: string): string {
  return roleArn.slice(roleArn.lastIndexOf('/') + 1);
}

function lambdaVariables(
  settings: FunctionSettings,
  host: { region: string; runtimeApi: string; logStreamName: string },
): Record<string, string> {
  return {
    _HANDLER: settings.handler,
    AWS_REGION: host.region,
    AWS_DEFAULT_REGION: host.region,
    AWS_EXECUTION_ENV: `AWS_Lambda_${settings.runtime}`,
    AWS_LAMBDA_FUNCTION_NAME: settings.functionName,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(settings.memoryMb),
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${settings.functionName}`,
    AWS_LAMBDA_LOG_STREAM_NAME: host.logStreamName,
    // The emulators check no signature, but the SDK refuses to sign without these. The key tells whose call a request is.
    AWS_ACCESS_KEY_ID: accessKeyOf(settings.roleArn),
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: 'local',
    AWS_LAMBDA_RUNTIME_API: host.runtimeApi,
    LAMBDA_TASK_ROOT: settings.codeDirectory,
  };
}
