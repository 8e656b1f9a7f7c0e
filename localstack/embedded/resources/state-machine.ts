import { DefinitionError } from '../step-functions/definition-reader.ts';
import { physicalName, uuidOf } from '../template/physical-name.ts';
import type { PropertyReader } from '../template/property-reader.ts';
import { inert, nested, used } from '../template/property-table.ts';
import { TemplateError } from '../template/template-error.ts';
import { asText } from '../template/template-value.ts';
import type { ResourceKind } from './resource-kind.ts';

export const stateMachine: ResourceKind = {
  properties: {
    StateMachineName: used,
    StateMachineType: used,
    RoleArn: used,
    DefinitionString: used,
    DefinitionSubstitutions: used,
    LoggingConfiguration: nested({
      Level: inert('the history of an execution has everything'),
      IncludeExecutionData: inert('the history of an execution has everything'),
      Destinations: inert('lines go to the log of the local AWS'),
    }),
    TracingConfiguration: nested({ Enabled: inert('no traces are kept') }),
    EncryptionConfiguration: inert('nothing here is stored longer than the process lives'),
    Tags: inert('nothing reads them'),
  },
  create({ logicalId, type, properties }, { place, stateMachines }) {
    if (properties.textOr('StateMachineType', 'STANDARD') !== 'STANDARD') {
      throw properties.refuse('StateMachineType', 'STANDARD, the only type that runs locally');
    }
    const name = properties.textOr(
      'StateMachineName',
      physicalName(place, logicalId, { lengthMax: 80 }),
    );
    try {
      const { arn } = stateMachines.create({
        name,
        roleArn: properties.text('RoleArn'),
        definition: readDefinitionString(properties),
      });
      return Promise.resolve({
        physicalId: arn,
        attributes: { Arn: arn, Name: name, StateMachineRevisionId: uuidOf(arn) },
      });
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error;
      throw new TemplateError(error.problems.map((problem) => `${type} ${logicalId}: ${problem}`));
    }
  },
};

/** With `${name}` replaced by what DefinitionSubstitutions has for it; other place holders stay, as in CloudFormation. */
function readDefinitionString(properties: PropertyReader): string {
  const substitutions = properties.object('DefinitionSubstitutions')?.values ?? {};
  return properties.text('DefinitionString').replaceAll(/\$\{([^}]+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(substitutions, name) ? substitutions[name] : undefined;
    return value === undefined ? whole : asText(value, `DefinitionSubstitutions.${name}`);
  });
}
