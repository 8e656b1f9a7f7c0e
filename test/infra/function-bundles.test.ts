import { describe, expect, it } from 'vitest';
import { buildHandler } from '../../infra/bundle-handler.ts';
import {
  COORDINATOR_PERMISSIONS,
  HEARTBEAT_PERMISSIONS,
  OPERATOR_PERMISSIONS,
  type Permission,
  REGISTRAR_PERMISSIONS,
  STEP_PERMISSIONS,
} from '../../infra/permissions.ts';

const MEBIBYTE = 1_048_576;

/** What a function may be, and what its code may do: the budget of its cold start. */
const FUNCTIONS: readonly (readonly [string, number, readonly Permission[]])[] = [
  ['flight-delays', MEBIBYTE, OPERATOR_PERMISSIONS],
  ['coordinator', MEBIBYTE, COORDINATOR_PERMISSIONS],
  ['workflow-steps', MEBIBYTE, STEP_PERMISSIONS],
  ['register-job', 600_000, REGISTRAR_PERMISSIONS],
  ['heartbeat', 400_000, HEARTBEAT_PERMISSIONS],
];

/** Services whose rights are used by the platform, with the rights of the function, and not by its code. */
const PLATFORM_SERVICES = ['kms', 'logs'];

describe.each(FUNCTIONS)('the bundle of %s', (name, bytesMax, permissions) => {
  const { metafile } = buildHandler(`functions/${name}/handler.ts`);
  const bundle = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint)!;

  it(`has at most ${bytesMax} bytes`, () => {
    expect(bundle.bytes).toBeLessThanOrEqual(bytesMax);
  });

  it('has the clients of the services that it has rights for, and no other', () => {
    const clients = Object.entries(bundle.inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => /node_modules\/@aws-sdk\/client-([^/]+)\//.exec(file)?.[1])
      .filter((client) => client !== undefined);
    const services = permissions
      .flatMap(({ actions }) => actions)
      .map((action) => action.slice(0, action.indexOf(':')))
      .filter((service) => !PLATFORM_SERVICES.includes(service));
    expect([...new Set(clients)].toSorted()).toEqual([...new Set(services)].toSorted());
  });

  it('has one copy of each package', () => {
    const nested = Object.keys(bundle.inputs).filter((file) =>
      /node_modules\/.+\/node_modules\//.test(file),
    );
    expect(nested).toEqual([]);
  });
});
