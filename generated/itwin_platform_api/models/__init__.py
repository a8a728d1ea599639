"""Contains all the data models used in inputs/outputs"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .basic_authentication import BasicAuthentication, BasicAuthenticationParam
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
    from .header_authentication import HeaderAuthentication, HeaderAuthenticationParam
    from .itwin import ITwin, ITwinOrderParam, ITwinPropertyParam, ITwinTimeParam
    from .itwin_class import ITwinClass
    from .itwin_status import ITwinStatus, ITwinStatusParam
    from .itwin_sub_class import ITwinSubClass, ITwinSubClassParam
    from .itwin_summary import ITwinSummary
    from .itwins_response import ITwinsResponse as ITwinsResponse
    from .oauth2_authorization_code_pkce_authentication import (
        OAuth2AuthorizationCodePKCEAuthentication,
        OAuth2AuthorizationCodePKCEAuthenticationParam,
    )
    from .paging_link import PagingLink as PagingLink
    from .paging_links import PagingLinks as PagingLinks
    from .preferred_return import PreferredReturn as PreferredReturn
    from .preferred_return import PreferredReturnParam as PreferredReturnParam
    from .primary_account_response import PrimaryAccountResponse as PrimaryAccountResponse
    from .query_parameter_authentication import QueryParameterAuthentication, QueryParameterAuthenticationParam
    from .query_scope import QueryScope, QueryScopeParam
    from .repository import Repository
    from .repository_capabilities import RepositoryCapabilities
    from .repository_class import RepositoryClass
    from .repository_options import RepositoryOptions, RepositoryOptionsParam
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
    from .vector3d import Vector3d, Vector3dParam
    from .view3d_data import View3dData, View3dDataParam
    from .webhook import Webhook
    from .webhook_scope import WebhookScope
    from .webhook_update import WebhookUpdate as WebhookUpdate
else:
    #: The names by their modules.
    _NAMES = {
        ".basic_authentication": "BasicAuthentication BasicAuthenticationParam",
        ".capability_link": "CapabilityLink",
        ".data_center_location": "DataCenterLocation",
        ".detector": "Detector",
        ".detector_create": "DetectorCreate",
        ".detector_response": "DetectorResponse",
        ".detector_type": "DetectorType DetectorTypeParam",
        ".error_body": "ErrorBody",
        ".error_code": "ErrorCode",
        ".error_detail": "ErrorDetail",
        ".error_detail_code": "ErrorDetailCode",
        ".error_response": "ErrorResponse",
        ".event_type": "EventType EventTypeParam",
        ".header_authentication": "HeaderAuthentication HeaderAuthenticationParam",
        ".itwin": "ITwin ITwinOrderParam ITwinPropertyParam ITwinTimeParam",
        ".itwin_class": "ITwinClass",
        ".itwin_status": "ITwinStatus ITwinStatusParam",
        ".itwin_sub_class": "ITwinSubClass ITwinSubClassParam",
        ".itwin_summary": "ITwinSummary",
        ".itwins_response": "ITwinsResponse",
        ".oauth2_authorization_code_pkce_authentication": "OAuth2AuthorizationCodePKCEAuthentication OAuth2AuthorizationCodePKCEAuthenticationParam",
        ".paging_link": "PagingLink",
        ".paging_links": "PagingLinks",
        ".preferred_return": "PreferredReturn PreferredReturnParam",
        ".primary_account_response": "PrimaryAccountResponse",
        ".query_parameter_authentication": "QueryParameterAuthentication QueryParameterAuthenticationParam",
        ".query_scope": "QueryScope QueryScopeParam",
        ".repository": "Repository",
        ".repository_capabilities": "RepositoryCapabilities",
        ".repository_class": "RepositoryClass",
        ".repository_options": "RepositoryOptions RepositoryOptionsParam",
        ".repository_resource_data": "RepositoryResourceData RepositoryResourceDataParam",
        ".repository_response": "RepositoryResponse",
        ".repository_sub_class": "RepositorySubClass",
        ".repository_update": "RepositoryUpdate",
        ".resource": "Resource",
        ".resource_capabilities": "ResourceCapabilities",
        ".resource_class": "ResourceClass",
        ".resource_create": "ResourceCreate",
        ".resource_response": "ResourceResponse",
        ".resource_sub_class": "ResourceSubClass",
        ".scene": "Scene",
        ".scene_context": "SceneContext",
        ".scene_create": "SceneCreate",
        ".scene_data": "SceneData",
        ".scene_data_create": "SceneDataCreate",
        ".scene_object": "SceneObject",
        ".scene_object_create": "SceneObjectCreate SceneObjectCreateParam",
        ".scene_object_kind": "SceneObjectKind SceneObjectKindParam",
        ".scene_object_minimal": "SceneObjectMinimal",
        ".scene_object_order": "SceneObjectOrder SceneObjectOrderParam",
        ".scene_objects_response": "SceneObjectsResponse",
        ".scene_response": "SceneResponse",
        ".vector3d": "Vector3d Vector3dParam",
        ".view3d_data": "View3dData View3dDataParam",
        ".webhook": "Webhook",
        ".webhook_scope": "WebhookScope",
        ".webhook_update": "WebhookUpdate",
    }
    _MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

    # Hidden from type checkers, which would accept any name as an attribute of this package.
    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_MODULES[name], __package__), name)
        globals()[name] = value
        return value


__all__ = (
    "BasicAuthentication",
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
    "HeaderAuthentication",
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
    "OAuth2AuthorizationCodePKCEAuthentication",
    "OAuth2AuthorizationCodePKCEAuthenticationParam",
    "QueryParameterAuthentication",
    "QueryParameterAuthenticationParam",
    "QueryScope",
    "QueryScopeParam",
    "Repository",
    "RepositoryCapabilities",
    "RepositoryClass",
    "RepositoryOptions",
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
    "Vector3d",
    "Vector3dParam",
    "View3dData",
    "View3dDataParam",
    "Webhook",
    "WebhookScope",
)
