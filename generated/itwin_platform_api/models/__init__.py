"""Contains all the data models used in inputs/outputs"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .capability_link import CapabilityLink
    from .data_center_location import DataCenterLocation
    from .detector import Detector
    from .detector_create import DetectorCreate as DetectorCreate
    from .detector_response import DetectorResponse as DetectorResponse
    from .detector_type import DetectorType, DetectorTypeParam
    from .error_body import ErrorBody as ErrorBody
    from .error_code import ErrorCode
    from .error_detail import ErrorDetail as ErrorDetail
    from .error_detail_code import ErrorDetailCode
    from .error_response import ErrorResponse as ErrorResponse
    from .event_type import EventType, EventTypeParam
    from .itwin import ITwin, ITwinOrderParam, ITwinPropertyParam, ITwinTimeParam
    from .itwin_class import ITwinClass
    from .itwin_status import ITwinStatus, ITwinStatusParam
    from .itwin_sub_class import ITwinSubClass, ITwinSubClassParam
    from .itwin_summary import ITwinSummary
    from .itwins_response import ITwinsResponse as ITwinsResponse
    from .paging_link import PagingLink as PagingLink
    from .paging_links import PagingLinks as PagingLinks
    from .preferred_return import PreferredReturn as PreferredReturn
    from .preferred_return import PreferredReturnParam as PreferredReturnParam
    from .primary_account_response import PrimaryAccountResponse as PrimaryAccountResponse
    from .query_parameters import QueryParameters as QueryParameters
    from .query_scope import QueryScope, QueryScopeParam
    from .repository import Repository
    from .repository_capabilities import RepositoryCapabilities
    from .repository_class import RepositoryClass
    from .repository_resource_data import RepositoryResourceData, RepositoryResourceDataParam
    from .repository_response import RepositoryResponse as RepositoryResponse
    from .repository_sub_class import RepositorySubClass
    from .repository_update import RepositoryUpdate as RepositoryUpdate
    from .resource import Resource
    from .resource_capabilities import ResourceCapabilities
    from .resource_class import ResourceClass
    from .resource_create import ResourceCreate as ResourceCreate
    from .resource_response import ResourceResponse as ResourceResponse
    from .resource_sub_class import ResourceSubClass
    from .scene import Scene
    from .scene_context import SceneContext as SceneContext
    from .scene_create import SceneCreate as SceneCreate
    from .scene_data import SceneData
    from .scene_data_create import SceneDataCreate as SceneDataCreate
    from .scene_object import SceneObject
    from .scene_object_create import SceneObjectCreate, SceneObjectCreateParam
    from .scene_object_kind import SceneObjectKind as SceneObjectKind
    from .scene_object_kind import SceneObjectKindParam as SceneObjectKindParam
    from .scene_object_minimal import SceneObjectMinimal
    from .scene_object_order import SceneObjectOrder as SceneObjectOrder
    from .scene_object_order import SceneObjectOrderParam as SceneObjectOrderParam
    from .scene_objects_response import SceneObjectsResponse as SceneObjectsResponse
    from .scene_response import SceneResponse as SceneResponse
    from .stored_basic_authentication import BasicAuthenticationParam, StoredBasicAuthentication
    from .stored_header_authentication import HeaderAuthenticationParam, StoredHeaderAuthentication
    from .stored_oauth2_authorization_code_pkce_authentication import (
        OAuth2AuthorizationCodePKCEAuthenticationParam,
        StoredOAuth2AuthorizationCodePKCEAuthentication,
    )
    from .stored_query_parameter_authentication import (
        QueryParameterAuthenticationParam,
        StoredQueryParameterAuthentication,
    )
    from .stored_repository_options import RepositoryOptionsParam, StoredRepositoryOptions
    from .vector3d import Vector3d, Vector3dParam
    from .view3d_data import View3dData, View3dDataParam
    from .webhook import Webhook
    from .webhook_scope import WebhookScope
    from .webhook_update import WebhookUpdate as WebhookUpdate
else:
    _MODULES = {
        "CapabilityLink": ".capability_link",
        "DataCenterLocation": ".data_center_location",
        "Detector": ".detector",
        "DetectorCreate": ".detector_create",
        "DetectorResponse": ".detector_response",
        "DetectorType": ".detector_type",
        "DetectorTypeParam": ".detector_type",
        "ErrorBody": ".error_body",
        "ErrorCode": ".error_code",
        "ErrorDetail": ".error_detail",
        "ErrorDetailCode": ".error_detail_code",
        "ErrorResponse": ".error_response",
        "EventType": ".event_type",
        "EventTypeParam": ".event_type",
        "ITwin": ".itwin",
        "ITwinOrderParam": ".itwin",
        "ITwinPropertyParam": ".itwin",
        "ITwinTimeParam": ".itwin",
        "ITwinClass": ".itwin_class",
        "ITwinStatus": ".itwin_status",
        "ITwinStatusParam": ".itwin_status",
        "ITwinSubClass": ".itwin_sub_class",
        "ITwinSubClassParam": ".itwin_sub_class",
        "ITwinSummary": ".itwin_summary",
        "ITwinsResponse": ".itwins_response",
        "PagingLink": ".paging_link",
        "PagingLinks": ".paging_links",
        "PreferredReturn": ".preferred_return",
        "PreferredReturnParam": ".preferred_return",
        "PrimaryAccountResponse": ".primary_account_response",
        "QueryParameters": ".query_parameters",
        "QueryScope": ".query_scope",
        "QueryScopeParam": ".query_scope",
        "Repository": ".repository",
        "RepositoryCapabilities": ".repository_capabilities",
        "RepositoryClass": ".repository_class",
        "RepositoryResourceData": ".repository_resource_data",
        "RepositoryResourceDataParam": ".repository_resource_data",
        "RepositoryResponse": ".repository_response",
        "RepositorySubClass": ".repository_sub_class",
        "RepositoryUpdate": ".repository_update",
        "Resource": ".resource",
        "ResourceCapabilities": ".resource_capabilities",
        "ResourceClass": ".resource_class",
        "ResourceCreate": ".resource_create",
        "ResourceResponse": ".resource_response",
        "ResourceSubClass": ".resource_sub_class",
        "Scene": ".scene",
        "SceneContext": ".scene_context",
        "SceneCreate": ".scene_create",
        "SceneData": ".scene_data",
        "SceneDataCreate": ".scene_data_create",
        "SceneObject": ".scene_object",
        "SceneObjectCreate": ".scene_object_create",
        "SceneObjectCreateParam": ".scene_object_create",
        "SceneObjectKind": ".scene_object_kind",
        "SceneObjectKindParam": ".scene_object_kind",
        "SceneObjectMinimal": ".scene_object_minimal",
        "SceneObjectOrder": ".scene_object_order",
        "SceneObjectOrderParam": ".scene_object_order",
        "SceneObjectsResponse": ".scene_objects_response",
        "SceneResponse": ".scene_response",
        "BasicAuthenticationParam": ".stored_basic_authentication",
        "StoredBasicAuthentication": ".stored_basic_authentication",
        "HeaderAuthenticationParam": ".stored_header_authentication",
        "StoredHeaderAuthentication": ".stored_header_authentication",
        "OAuth2AuthorizationCodePKCEAuthenticationParam": ".stored_oauth2_authorization_code_pkce_authentication",
        "StoredOAuth2AuthorizationCodePKCEAuthentication": ".stored_oauth2_authorization_code_pkce_authentication",
        "QueryParameterAuthenticationParam": ".stored_query_parameter_authentication",
        "StoredQueryParameterAuthentication": ".stored_query_parameter_authentication",
        "RepositoryOptionsParam": ".stored_repository_options",
        "StoredRepositoryOptions": ".stored_repository_options",
        "Vector3d": ".vector3d",
        "Vector3dParam": ".vector3d",
        "View3dData": ".view3d_data",
        "View3dDataParam": ".view3d_data",
        "Webhook": ".webhook",
        "WebhookScope": ".webhook_scope",
        "WebhookUpdate": ".webhook_update",
    }

    # Out of sight of type checkers, for which it would make any name a name of this package.
    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_MODULES[name], __package__), name)
        globals()[name] = value
        return value


__all__ = (
    "BasicAuthenticationParam",
    "CapabilityLink",
    "DataCenterLocation",
    "Detector",
    "DetectorType",
    "DetectorTypeParam",
    "ErrorCode",
    "ErrorDetailCode",
    "EventType",
    "EventTypeParam",
    "HeaderAuthenticationParam",
    "ITwin",
    "ITwinClass",
    "ITwinOrderParam",
    "ITwinPropertyParam",
    "ITwinStatus",
    "ITwinStatusParam",
    "ITwinSubClass",
    "ITwinSubClassParam",
    "ITwinSummary",
    "ITwinTimeParam",
    "OAuth2AuthorizationCodePKCEAuthenticationParam",
    "QueryParameterAuthenticationParam",
    "QueryScope",
    "QueryScopeParam",
    "Repository",
    "RepositoryCapabilities",
    "RepositoryClass",
    "RepositoryOptionsParam",
    "RepositoryResourceData",
    "RepositoryResourceDataParam",
    "RepositorySubClass",
    "Resource",
    "ResourceCapabilities",
    "ResourceClass",
    "ResourceSubClass",
    "Scene",
    "SceneData",
    "SceneObject",
    "SceneObjectCreate",
    "SceneObjectCreateParam",
    "SceneObjectMinimal",
    "StoredBasicAuthentication",
    "StoredHeaderAuthentication",
    "StoredOAuth2AuthorizationCodePKCEAuthentication",
    "StoredQueryParameterAuthentication",
    "StoredRepositoryOptions",
    "Vector3d",
    "Vector3dParam",
    "View3dData",
    "View3dDataParam",
    "Webhook",
    "WebhookScope",
)
